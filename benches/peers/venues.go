package main

import (
	"fmt"
	"strconv"
	"time"
)

// Quote holds what Quorate reads of an answer, as floats, which cost less than exact decimals. What an exchange does not say is zero, and not printed.
type Quote struct {
	Bid         float64 `json:"bid,omitempty"`
	Ask         float64 `json:"ask,omitempty"`
	Last        float64 `json:"last,omitempty"`
	BidSize     float64 `json:"bid_size,omitempty"`
	AskSize     float64 `json:"ask_size,omitempty"`
	High        float64 `json:"high,omitempty"`
	Low         float64 `json:"low,omitempty"`
	Open        float64 `json:"open,omitempty"`
	BaseVolume  float64 `json:"base_volume,omitempty"`
	QuoteVolume float64 `json:"quote_volume,omitempty"`
	TimeMs      int64   `json:"-"`
}

// Venue says where BTC/USDT is asked for and how the answer is read.
type Venue struct {
	name, path string
	decode     func([]byte) (Quote, error)
}

var venues = []Venue{
	{"binance", "/api/v3/ticker/24hr?symbol=BTCUSDT", binance},
	{"bitfinex", "/v2/ticker/tBTCUST", bitfinex},
	{"bitget", "/api/v2/spot/market/tickers?symbol=BTCUSDT", bitget},
	{"bitstamp", "/api/v2/ticker/btcusdt/", bitstamp},
	{"bybit", "/v5/market/tickers?category=spot&symbol=BTCUSDT", bybit},
	{"coinbaseexchange", "/products/BTC-USDT/ticker", coinbase},
	{"gate", "/api/v4/spot/tickers?currency_pair=BTC_USDT", gate},
	{"htx", "/market/detail/merged?symbol=btcusdt", htx},
	{"kraken", "/0/public/Ticker?pair=XBTUSDT", kraken},
	{"kucoin", "/api/ua/v1/market/ticker?tradeType=SPOT&symbol=BTC-USDT", kucoin},
	{"mexc", "/api/v3/ticker/24hr?symbol=BTCUSDT", binance},
	{"okx", "/api/v5/market/ticker?instId=BTC-USDT", okx},
}

func rows(count int) error {
	if count != 1 {
		return fmt.Errorf("%d rows, expected 1", count)
	}
	return nil
}

func binance(body []byte) (Quote, error) {
	var t struct {
		Bid         float64 `json:"bidPrice,string"`
		BidSize     float64 `json:"bidQty,string"`
		Ask         float64 `json:"askPrice,string"`
		AskSize     float64 `json:"askQty,string"`
		Last        float64 `json:"lastPrice,string"`
		Open        float64 `json:"openPrice,string"`
		High        float64 `json:"highPrice,string"`
		Low         float64 `json:"lowPrice,string"`
		Volume      float64 `json:"volume,string"`
		QuoteVolume float64 `json:"quoteVolume,string"`
		CloseTime   int64   `json:"closeTime"`
	}
	err := codec.Unmarshal(body, &t)
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, t.Open, t.Volume, t.QuoteVolume, t.CloseTime}, err
}

func bitfinex(body []byte) (Quote, error) {
	// bid, its size, ask, its size, change, relative change, last, volume, high, low
	var t []float64
	if err := codec.Unmarshal(body, &t); err != nil {
		return Quote{}, err
	}
	if len(t) < 10 {
		return Quote{}, fmt.Errorf("%d numbers, expected 10", len(t))
	}
	return Quote{Bid: t[0], BidSize: t[1], Ask: t[2], AskSize: t[3], Last: t[6], BaseVolume: t[7], High: t[8], Low: t[9]}, nil
}

func bitget(body []byte) (Quote, error) {
	var answer struct {
		Data []struct {
			Bid         float64 `json:"bidPr,string"`
			BidSize     float64 `json:"bidSz,string"`
			Ask         float64 `json:"askPr,string"`
			AskSize     float64 `json:"askSz,string"`
			Last        float64 `json:"lastPr,string"`
			Open        float64 `json:"open,string"`
			High        float64 `json:"high24h,string"`
			Low         float64 `json:"low24h,string"`
			Volume      float64 `json:"baseVolume,string"`
			QuoteVolume float64 `json:"quoteVolume,string"`
			Time        int64   `json:"ts,string"`
		} `json:"data"`
	}
	if err := codec.Unmarshal(body, &answer); err != nil {
		return Quote{}, err
	}
	if err := rows(len(answer.Data)); err != nil {
		return Quote{}, err
	}
	t := &answer.Data[0]
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, t.Open, t.Volume, t.QuoteVolume, t.Time}, nil
}

func bitstamp(body []byte) (Quote, error) {
	var t struct {
		Bid    float64 `json:"bid,string"`
		Ask    float64 `json:"ask,string"`
		Last   float64 `json:"last,string"`
		Open   float64 `json:"open,string"`
		High   float64 `json:"high,string"`
		Low    float64 `json:"low,string"`
		Volume float64 `json:"volume,string"`
		Time   int64   `json:"timestamp,string"`
	}
	err := codec.Unmarshal(body, &t)
	return Quote{Bid: t.Bid, Ask: t.Ask, Last: t.Last, High: t.High, Low: t.Low, Open: t.Open, BaseVolume: t.Volume, TimeMs: t.Time * 1000}, err
}

func bybit(body []byte) (Quote, error) {
	var answer struct {
		Result struct {
			List []struct {
				Bid      float64 `json:"bid1Price,string"`
				BidSize  float64 `json:"bid1Size,string"`
				Ask      float64 `json:"ask1Price,string"`
				AskSize  float64 `json:"ask1Size,string"`
				Last     float64 `json:"lastPrice,string"`
				Open     float64 `json:"prevPrice24h,string"`
				High     float64 `json:"highPrice24h,string"`
				Low      float64 `json:"lowPrice24h,string"`
				Volume   float64 `json:"volume24h,string"`
				Turnover float64 `json:"turnover24h,string"`
			} `json:"list"`
		} `json:"result"`
		Time int64 `json:"time"`
	}
	if err := codec.Unmarshal(body, &answer); err != nil {
		return Quote{}, err
	}
	if err := rows(len(answer.Result.List)); err != nil {
		return Quote{}, err
	}
	t := &answer.Result.List[0]
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, t.Open, t.Volume, t.Turnover, answer.Time}, nil
}

func coinbase(body []byte) (Quote, error) {
	var t struct {
		Bid    float64   `json:"bid,string"`
		Ask    float64   `json:"ask,string"`
		Last   float64   `json:"price,string"`
		Volume float64   `json:"volume,string"`
		Time   time.Time `json:"time"`
	}
	err := codec.Unmarshal(body, &t)
	return Quote{Bid: t.Bid, Ask: t.Ask, Last: t.Last, BaseVolume: t.Volume, TimeMs: t.Time.UnixMilli()}, err
}

func gate(body []byte) (Quote, error) {
	var list []struct {
		Bid         float64 `json:"highest_bid,string"`
		BidSize     float64 `json:"highest_size,string"`
		Ask         float64 `json:"lowest_ask,string"`
		AskSize     float64 `json:"lowest_size,string"`
		Last        float64 `json:"last,string"`
		High        float64 `json:"high_24h,string"`
		Low         float64 `json:"low_24h,string"`
		BaseVolume  float64 `json:"base_volume,string"`
		QuoteVolume float64 `json:"quote_volume,string"`
	}
	if err := codec.Unmarshal(body, &list); err != nil {
		return Quote{}, err
	}
	if err := rows(len(list)); err != nil {
		return Quote{}, err
	}
	t := &list[0]
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, 0, t.BaseVolume, t.QuoteVolume, 0}, nil
}

func htx(body []byte) (Quote, error) {
	var answer struct {
		Time int64 `json:"ts"`
		Tick struct {
			Bid    [2]float64 `json:"bid"`
			Ask    [2]float64 `json:"ask"`
			Close  float64    `json:"close"`
			Open   float64    `json:"open"`
			High   float64    `json:"high"`
			Low    float64    `json:"low"`
			Amount float64    `json:"amount"`
			Vol    float64    `json:"vol"`
		} `json:"tick"`
	}
	err := codec.Unmarshal(body, &answer)
	t := &answer.Tick
	return Quote{t.Bid[0], t.Ask[0], t.Close, t.Bid[1], t.Ask[1], t.High, t.Low, t.Open, t.Amount, t.Vol, answer.Time}, err
}

func kraken(body []byte) (Quote, error) {
	var answer struct {
		Error  []string `json:"error"`
		Result map[string]struct {
			Ask    [3]string `json:"a"`
			Bid    [3]string `json:"b"`
			Close  [2]string `json:"c"`
			Volume [2]string `json:"v"`
			Low    [2]string `json:"l"`
			High   [2]string `json:"h"`
			Open   float64   `json:"o,string"`
		} `json:"result"`
	}
	if err := codec.Unmarshal(body, &answer); err != nil {
		return Quote{}, err
	}
	if err := rows(len(answer.Result)); err != nil {
		return Quote{}, err
	}
	var failed error
	number := func(text string) float64 {
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			failed = err
		}
		return number
	}
	var quote Quote
	for _, t := range answer.Result {
		quote = Quote{
			Bid: number(t.Bid[0]), BidSize: number(t.Bid[2]), Ask: number(t.Ask[0]), AskSize: number(t.Ask[2]), Last: number(t.Close[0]),
			High: number(t.High[1]), Low: number(t.Low[1]), Open: t.Open, BaseVolume: number(t.Volume[1]),
		}
	}
	return quote, failed
}

func kucoin(body []byte) (Quote, error) {
	var answer struct {
		Data struct {
			Time int64 `json:"ts"`
			List []struct {
				Bid         float64 `json:"bestBidPrice,string"`
				BidSize     float64 `json:"bestBidSize,string"`
				Ask         float64 `json:"bestAskPrice,string"`
				AskSize     float64 `json:"bestAskSize,string"`
				Last        float64 `json:"lastPrice,string"`
				Open        float64 `json:"open,string"`
				High        float64 `json:"high,string"`
				Low         float64 `json:"low,string"`
				BaseVolume  float64 `json:"baseVolume,string"`
				QuoteVolume float64 `json:"quoteVolume,string"`
			} `json:"list"`
		} `json:"data"`
	}
	if err := codec.Unmarshal(body, &answer); err != nil {
		return Quote{}, err
	}
	if err := rows(len(answer.Data.List)); err != nil {
		return Quote{}, err
	}
	t := &answer.Data.List[0]
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, t.Open, t.BaseVolume, t.QuoteVolume, answer.Data.Time}, nil
}

func okx(body []byte) (Quote, error) {
	var answer struct {
		Data []struct {
			Bid         float64 `json:"bidPx,string"`
			BidSize     float64 `json:"bidSz,string"`
			Ask         float64 `json:"askPx,string"`
			AskSize     float64 `json:"askSz,string"`
			Last        float64 `json:"last,string"`
			Open        float64 `json:"open24h,string"`
			High        float64 `json:"high24h,string"`
			Low         float64 `json:"low24h,string"`
			BaseVolume  float64 `json:"vol24h,string"`
			QuoteVolume float64 `json:"volCcy24h,string"`
			Time        int64   `json:"ts,string"`
		} `json:"data"`
	}
	if err := codec.Unmarshal(body, &answer); err != nil {
		return Quote{}, err
	}
	if err := rows(len(answer.Data)); err != nil {
		return Quote{}, err
	}
	t := &answer.Data[0]
	return Quote{t.Bid, t.Ask, t.Last, t.BidSize, t.AskSize, t.High, t.Low, t.Open, t.BaseVolume, t.QuoteVolume, t.Time}, nil
}

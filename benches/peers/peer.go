// The program of the post "24 s one after the other, 3 s at once", written again and well: a goroutine for each exchange, one client that all share, bodies
// in pooled buffers, jsoniter, and a gather that ends at a timeout.
//
// peer.go reads the exchanges' origins as one line of JSON, then commands as benches/peers/run gives them.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	jsoniter "github.com/json-iterator/go"
)

const timeout = time.Second

var codec = jsoniter.ConfigFastest

// One client with its connections for all rounds. Only what the standard library's own default leaves too small for rounds back to back is changed.
var client = &http.Client{Transport: &http.Transport{
	DialContext:         (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext,
	MaxIdleConns:        100,
	MaxIdleConnsPerHost: 16,
	IdleConnTimeout:     5 * time.Minute,
	TLSHandshakeTimeout: timeout,
}}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

type answer struct {
	venue string
	quote Quote
	err   error
}

func fetch(ctx context.Context, venue Venue, url string) answer {
	quote, err := get(ctx, venue, url)
	return answer{venue.name, quote, err}
}

func get(ctx context.Context, venue Venue, url string) (Quote, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Quote{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return Quote{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Quote{}, fmt.Errorf("%s: HTTP %d", venue.name, response.StatusCode)
	}
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(response.Body); err != nil {
		return Quote{}, err
	}
	return venue.decode(buffer.Bytes())
}

// round asks all exchanges at once and gathers what is there in time.
func round(urls []string) map[string]Quote {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answers := make(chan answer, len(venues))
	for at, venue := range venues {
		go func(venue Venue, url string) { answers <- fetch(ctx, venue, url) }(venue, urls[at])
	}
	quotes := make(map[string]Quote, len(venues))
	for range venues {
		select {
		case got := <-answers:
			if got.err != nil {
				log.Fatalf("%s: %v", got.venue, got.err)
			}
			quotes[got.venue] = got.quote
		case <-ctx.Done():
			return quotes
		}
	}
	return quotes
}

func say(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func rounds(urls []string, count, pauseMs int) {
	times := make([]int64, 0, count)
	for n := 0; n < count; n++ {
		if n > 0 && pauseMs > 0 {
			time.Sleep(time.Duration(pauseMs) * time.Millisecond)
		}
		began := time.Now()
		if got := len(round(urls)); got != len(venues) {
			log.Fatalf("%d quotes in a round, expected %d", got, len(venues))
		}
		times = append(times, time.Since(began).Nanoseconds())
	}
	say(times)
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	if !input.Scan() {
		log.Fatal("no line of origins")
	}
	var origins map[string]string
	if err := json.Unmarshal(input.Bytes(), &origins); err != nil {
		log.Fatal(err)
	}
	urls := make([]string, len(venues))
	for at, venue := range venues {
		urls[at] = origins[venue.name] + venue.path
	}
	for input.Scan() {
		var count, pauseMs int
		if input.Text() == "quotes" {
			say(round(urls))
		} else if n, _ := fmt.Sscanf(input.Text(), "rounds %d %d", &count, &pauseMs); n == 2 {
			rounds(urls, count, pauseMs)
		} else {
			log.Fatalf("%q is no command", input.Text())
		}
	}
}

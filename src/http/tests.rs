use super::*;
use actix_web::{App, http::StatusCode, test, web};
use quorate_actors::{
    clock::Clock,
    sim::{MemoryConnect, Options as SimOptions, World},
};

fn engine() -> Engine {
    let clock = Clock::start();
    let world = World::new(SimOptions::default(), clock.now()).unwrap();
    Engine::builder().pairs(["BTC-USDT"]).connect(Arc::new(MemoryConnect::new(world, clock.clone()))).clock(clock).here().start().unwrap()
}

const PANICKING: &[Route] = &[get("/boom", |_| async { panic!("as a bug would") }.boxed_local())];

#[actix_web::test]
async fn a_handler_that_panics_is_answered_for() {
    let state = Arc::new(State::new(engine(), Options { simulated: true, ..Options::default() }));
    let kept = Arc::clone(&state);
    let service = fn_service(move |request: ServiceRequest| serve(&kept, PANICKING, request));
    let app = test::init_service(App::new().default_service(service)).await;
    let answer = test::call_service(&app, test::TestRequest::get().uri("/boom").insert_header(("x-request-id", "me")).to_request()).await;
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answer.headers().get("quorate-simulated").unwrap(), "1");
    let body: serde_json::Value = serde_json::from_slice(&test::read_body(answer).await).unwrap();
    assert_eq!((&body["code"], &body["request_id"], &body["simulated"]), (&"internal".into(), &"me".into(), &true.into()));
    // The next request is handled as ever.
    let next = test::call_service(&app, test::TestRequest::get().uri("/boom").to_request()).await;
    assert_eq!(next.status(), StatusCode::INTERNAL_SERVER_ERROR);
    state.engine.shutdown().await;
}

#[actix_web::test]
async fn the_routes_fit_into_a_scope_of_another_app() {
    let engine = engine();
    let app = test::init_service(App::new().service(web::scope("/rates").configure(routes(engine.clone())))).await;
    let get = async |path: &str| test::call_service(&app, test::TestRequest::get().uri(path).to_request()).await;
    let answer = get("/rates/v1/quotes/BTC-USDT?deadline_ms=5000").await;
    assert_eq!(answer.status(), StatusCode::OK);
    // An engine without a renderer of its own gets ours.
    let body: serde_json::Value = serde_json::from_slice(&test::read_body(answer).await).unwrap();
    assert_eq!((&body["pair"], &body["boot"]), (&"BTC-USDT".into(), &engine.boot().into()));
    assert_eq!(get("/rates/v1/nothing").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(get("/v1/quotes/BTC-USDT").await.status(), StatusCode::NOT_FOUND);
    engine.shutdown().await;
}

#[actix_web::test]
async fn a_tag_never_stands_for_an_answer_with_another_venue_missing() {
    let engine = engine();
    let state = Arc::new(State::new(engine.clone(), Options::default()));
    let app = test::init_service(App::new().configure(routes_of(Arc::clone(&state)))).await;
    let asked = test::TestRequest::get().uri("/v1/quotes/BTC-USDT?deadline_ms=5000").to_request();
    assert_eq!(test::call_service(&app, asked).await.status(), StatusCode::OK);
    let pair = "BTC-USDT".parse().unwrap();
    let whole = engine.latest(&pair).unwrap().view.clone();
    let mut partial = whole.clone();
    let row = partial.rows.remove(0);
    let fault = Arc::new(quorate_actors::model::Fault::new(quorate_actors::model::Reason::Timeout, "no answer"));
    partial.misses.push(quorate_actors::view::Miss { venue: row.quote.venue.clone(), fault, at: whole.at });
    assert_eq!(whole.sequence, partial.sequence);
    assert_ne!(quotes::variant(&whole), quotes::variant(&partial));
    let mut refused = whole.clone();
    refused.rows[0].refused = Some(quorate_actors::model::Reason::Stale);
    assert_ne!(quotes::variant(&whole), quotes::variant(&refused));
    engine.shutdown().await;
}

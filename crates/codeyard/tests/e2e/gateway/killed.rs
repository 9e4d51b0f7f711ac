//! The gateway or its database killed under load; `cargo xtask soak gateway-kills database-kills` does it often.

use test_support::gateway::{GatewayProcess, sharing};
use test_support::{Codeyard, GatewayLoad, PostgresServer, Traces};

const SETTINGS: &str = "[records]\nrecord = \"required\"\n";
const CLIENTS: usize = 3;

#[tokio::test]
async fn a_killed_gateway_loses_nothing_acknowledged_and_leaves_nothing() {
    let codeyard = Codeyard::with_stub().unwrap().settings(SETTINGS);
    let mut gateway = GatewayProcess::start(&codeyard).unwrap();
    let load = GatewayLoad::prepare(&codeyard, gateway.address(), CLIENTS, 1).await;
    let mut load = load.unwrap();
    for answers in [1, 8, 20] {
        let working = load.begin(&[gateway.address().to_owned()]);
        working.until_answered(answers).await;
        let traces = Traces::of(gateway.pid());
        gateway.kill().unwrap();
        load = working.end().await.unwrap();
        traces.wait_until_gone().await;
        gateway = GatewayProcess::start(&codeyard).unwrap();
        let wrong = load.check(gateway.address()).await.unwrap();
        assert!(wrong.is_empty(), "killed after {answers} answers: {wrong:#?}");
    }
    let [runs, changes, _] = load.counts();
    assert!(runs + changes >= 29, "{runs} runs, {changes} changes");
    gateway.finish().unwrap();
}

#[tokio::test]
async fn a_killed_postgres_loses_nothing_acknowledged() {
    let mut postgres = PostgresServer::start().unwrap();
    let data = tempfile::tempdir().unwrap();
    let url = postgres.make("gateway").unwrap();
    let codeyard = sharing(&url, data.path()).unwrap().settings(SETTINGS);
    let gateways = [(); 2].map(|()| GatewayProcess::start_advertised(&codeyard).unwrap());
    let addresses = gateways.each_ref().map(|gateway| gateway.address().to_owned());
    let load = GatewayLoad::prepare(&codeyard, &addresses[0], CLIENTS, 1).await;
    let mut load = load.unwrap();
    for answers in [1, 12] {
        let working = load.begin(&addresses);
        working.until_answered(answers).await;
        postgres.kill().unwrap();
        postgres.run().unwrap();
        load = working.end().await.unwrap();
        for address in &addresses {
            let wrong = load.check(address).await.unwrap();
            assert!(wrong.is_empty(), "killed after {answers} answers: {wrong:#?}");
        }
    }
    for gateway in gateways {
        gateway.finish().unwrap();
    }
}

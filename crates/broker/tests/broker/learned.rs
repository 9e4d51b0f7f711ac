//! Whose calls teach whom.

use super::*;
use catalog::Learned;

fn principal(id: &str) -> Principal {
    id.parse().expect("a principal")
}

async fn find(broker: &Broker, who: &str) {
    let calls = broker.calls(principal(who), scope());
    let call = HostCall {
        name: "tool".to_owned(),
        args: json!({"server": "crm", "tool": "find", "args": {"id": 1}}),
    };
    calls.call(call, context(LONG)).await.expect("an answer");
}

async fn known(broker: &Broker, who: &str) -> Option<Arc<Learned>> {
    let entry = broker
        .resolve(&principal(who), "crm", "find")
        .await
        .expect("a tool");
    broker.learned(&principal(who)).await.of(&entry)
}

async fn known_soon(broker: &Broker, who: &str) -> Arc<Learned> {
    let found = async {
        loop {
            if let Some(learned) = known(broker, who).await {
                return learned;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, found)
        .await
        .expect("something learned")
}

fn broker(world: &World, shared: bool) -> Broker {
    let learning = Learning {
        shared,
        database: Some(world.data.path().join(FILE).into()),
        ..Learning::default()
    };
    let policy = Arc::new(Policy::new(policy::PolicyConfig::default()).expect("valid rules"));
    let saved = Saved::new(world.data.path().join(FILE).into());
    let files = Scanner::new(Vec::new());
    Broker::new(world.hub.clone(), files, policy, Records::off(), saved, learning)
}

#[tokio::test]
async fn a_principal_sees_only_its_own_learned_types() {
    let world = World::new(&[("crm", ServerDefinition::canned("learned/crm"))]);
    let first = broker(&world, false);
    find(&first, "ann").await;
    assert_eq!(known_soon(&first, "ann").await.calls, 1);
    assert_eq!(known(&first, "bob").await, None);
    first.close().await;
    // The next process knows it too.
    let next = broker(&world, false);
    assert_eq!(known(&next, "ann").await.map(|learned| learned.calls), Some(1));
    assert_eq!(known(&next, "bob").await, None);
}

#[tokio::test]
async fn principals_share_learned_types_if_configured() {
    let world = World::new(&[("crm", ServerDefinition::canned("learned/crm"))]);
    let broker = broker(&world, true);
    find(&broker, "ann").await;
    assert_eq!(known_soon(&broker, "ann").await.calls, 1);
    assert_eq!(known(&broker, "bob").await.map(|learned| learned.calls), Some(1));
}

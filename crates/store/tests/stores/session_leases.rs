//! Leases of sessions: one live holder, take-over from a dead holder, and notices of lost sessions.

use std::time::Duration;

use store::SessionLeases;
use store::accounts::Moment;
use store::session_leases::{GatewayProcess, LeaseKey, LeaseTaken};
use types::{Language, Principal, ServerId, SessionName};

use crate::places::{Place, in_each};

const TIME: Duration = Duration::from_millis(6000);

fn leases(place: &Place) -> SessionLeases {
    SessionLeases::new(place.database.clone())
}

fn process(id: &str) -> GatewayProcess {
    GatewayProcess {
        id: id.to_owned(),
        url: format!("http://{id}"),
    }
}

fn key(user: &str) -> LeaseKey {
    LeaseKey {
        server: ServerId::new("lab"),
        principal: Principal::new("local", user).expect("a principal"),
    }
}

#[tokio::test]
async fn a_live_process_keeps_its_leases_and_a_dead_one_loses_them() {
    in_each(async |place| {
        let (one, other) = (leases(place), leases(place));
        let at = Moment::At;
        for (leases, id, now) in [(&one, "one", 0), (&other, "other", 1000)] {
            let held = leases.renew(&process(id), TIME, at(now)).await.expect("renewed");
            assert_eq!(held, []);
        }
        let (ann, bob) = (key("ann"), key("bob"));
        let elsewhere = |id| Ok(LeaseTaken::Elsewhere(process(id)));
        assert_eq!(one.take(&ann, "one", None, at(1000)).await, Ok(LeaseTaken::Held));
        assert_eq!(one.take(&ann, "one", None, at(1001)).await, Ok(LeaseTaken::Held));
        assert_eq!(other.take(&ann, "other", None, at(1002)).await, elsewhere("one"));
        assert_eq!(
            other.take(&bob, "other", None, at(1002)).await,
            Ok(LeaseTaken::Held)
        );
        let name = SessionName::new("default");
        for _ in 0..2 {
            let noted = one.note_session(&ann, Language::Python, &name).await;
            assert_eq!(noted, Ok(()));
        }
        assert_eq!(one.others("one", at(1002)).await, Ok(vec![process("other")]));
        assert_eq!(
            one.renew(&process("one"), TIME, at(2000)).await,
            Ok(vec![ann.clone()])
        );

        assert_eq!(other.take(&ann, "other", None, at(7999)).await, elsewhere("one"));
        let lost = LeaseTaken::TakenOver(vec![(Language::Python, name)]);
        assert_eq!(other.take(&ann, "other", None, at(8000)).await, Ok(lost));
        // The late process has lost its leases, and the loss is reported once.
        assert_eq!(one.renew(&process("one"), TIME, at(8001)).await, Ok(Vec::new()));
        other
            .renew(&process("other"), TIME, at(8001))
            .await
            .expect("renewed");
        assert_eq!(one.take(&ann, "one", None, at(8002)).await, elsewhere("other"));
        let nothing = LeaseTaken::TakenOver(Vec::new());
        assert_eq!(one.take(&ann, "one", Some("other"), at(8003)).await, Ok(nothing));
    })
    .await;
}

#[tokio::test]
async fn a_process_that_ended_a_day_ago_is_forgotten() {
    in_each(async |place| {
        let leases = leases(place);
        let at = Moment::At;
        let day = 24 * 60 * 60 * 1000;
        let (ann, bob) = (key("ann"), key("bob"));
        let name = SessionName::new("default");
        for (id, key) in [("one", &ann), ("other", &bob)] {
            leases.renew(&process(id), TIME, at(0)).await.expect("renewed");
            assert_eq!(leases.take(key, id, None, at(1)).await, Ok(LeaseTaken::Held));
            leases
                .note_session(key, Language::Python, &name)
                .await
                .expect("noted");
        }
        leases.end("one", at(10)).await.expect("ended");
        leases.purge(at(10 + day)).await.expect("purged");
        assert_eq!(
            leases.take(&ann, "new", None, at(11 + day)).await,
            Ok(LeaseTaken::Held)
        );
        let lost = LeaseTaken::TakenOver(vec![(Language::Python, name)]);
        assert_eq!(leases.take(&bob, "new", None, at(11 + day)).await, Ok(lost));
    })
    .await;
}

#[tokio::test]
async fn an_ended_process_frees_its_leases_and_a_released_one_leaves_nothing() {
    in_each(async |place| {
        let leases = leases(place);
        let at = Moment::At;
        let (ann, bob) = (key("ann"), key("bob"));
        let name = SessionName::new("default");
        leases.renew(&process("one"), TIME, at(0)).await.expect("renewed");
        for key in [&ann, &bob] {
            assert_eq!(leases.take(key, "one", None, at(1)).await, Ok(LeaseTaken::Held));
            leases
                .note_session(key, Language::TypeScript, &name)
                .await
                .expect("noted");
        }
        // A release by another process has no effect.
        leases.release(&bob, "other").await.expect("released");
        assert_eq!(leases.others("other", at(2)).await, Ok(vec![process("one")]));
        leases.release(&bob, "one").await.expect("released");
        leases.end("one", at(2)).await.expect("ended");
        assert_eq!(leases.others("other", at(2)).await, Ok(Vec::new()));
        assert_eq!(
            leases.take(&bob, "other", None, at(2)).await,
            Ok(LeaseTaken::Held)
        );
        let lost = LeaseTaken::TakenOver(vec![(Language::TypeScript, name)]);
        assert_eq!(leases.take(&ann, "other", None, at(2)).await, Ok(lost));
    })
    .await;
}

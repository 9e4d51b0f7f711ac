//! The last platform admin of a tenant, and teams by id.

use identity::Role;
use store::accounts::UserChange;
use types::{TeamId, TenantId};

use super::{accounts, acme, people, said, team, user};
use crate::places::{actor, in_each};

#[tokio::test]
async fn the_last_enabled_platform_admin_of_a_tenant_stays() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let of_others = identity::user(&TenantId::new("globex"), "admin@example.com").expect("a user");
        accounts
            .by(actor())
            .create_user(&of_others, Role::PlatformAdmin)
            .await
            .expect("a user");
        let change = |role, disabled| UserChange { role, disabled };
        let changes = [
            change(Some(Role::Viewer), None),
            change(None, Some(true)),
            change(Some(Role::PlatformAdmin), Some(true)),
        ];
        let last = "'admin@example.com' is the last enabled platform admin; make another user a platform admin first";
        for change in changes {
            let changed = accounts.by(actor()).change_user_keeping_admin(&user("admin"), change).await;
            assert_eq!(said(changed), last, "{change:?}");
        }
        let deleted = accounts.by(actor()).delete_user_keeping_admin(&user("admin")).await;
        assert_eq!(said(deleted), last);
        let kept = change(Some(Role::PlatformAdmin), Some(false));
        let kept = accounts.by(actor()).change_user_keeping_admin(&user("admin"), kept).await;
        assert_eq!(said(kept), "ok");
        let raised = change(Some(Role::PlatformAdmin), None);
        let raised = accounts.by(actor()).change_user_keeping_admin(&user("ana"), raised).await;
        assert_eq!(said(raised), "ok");
        let disabled = accounts.by(actor()).change_user_keeping_admin(&user("admin"), changes[1]).await;
        assert_eq!(said(disabled), "ok");
        let deleted = accounts.by(actor()).delete_user_keeping_admin(&user("ana")).await;
        assert!(said(deleted).starts_with("'ana@example.com' is the last"));
        // A disabled admin does not count as an admin.
        assert_eq!(accounts.by(actor()).delete_user_keeping_admin(&user("admin")).await, Ok(true));
        assert_eq!(accounts.by(actor()).delete_user_keeping_admin(&user("admin")).await, Ok(false));
        let unknown = accounts.by(actor()).change_user_keeping_admin(&user("admin"), changes[1]).await;
        assert_eq!(said(unknown), "unknown user 'admin@example.com'");
        // The operator's variant removes the last admin.
        assert_eq!(accounts.by(actor()).delete_user(&user("ana")).await, Ok(true));
    })
    .await;
}

#[tokio::test]
async fn two_processes_do_not_remove_each_other_s_admin() {
    in_each(async |place| {
        let (one, other) = (accounts(place), accounts(place));
        people(&one).await;
        one.by(actor())
            .create_user(&user("second"), Role::PlatformAdmin)
            .await
            .expect("a user");
        let (admin, second) = (user("admin"), user("second"));
        let (first, last) = tokio::join!(
            one.by(actor()).delete_user_keeping_admin(&admin),
            other.by(actor()).delete_user_keeping_admin(&second),
        );
        assert!(first.is_ok() != last.is_ok(), "{first:?} {last:?}");
    })
    .await;
}

#[tokio::test]
async fn teams_are_read_by_their_ids() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let ids = ["team-b", "team-z", "team-a"].map(team);
        let ids: Vec<&TeamId> = ids.iter().collect();
        let found = accounts.teams_among(&acme(), &ids).await.expect("teams");
        let found: Vec<&str> = found.iter().map(|team| team.id.as_str()).collect();
        assert_eq!(found, ["team-a", "team-b"]);
        assert_eq!(accounts.teams_among(&acme(), &[]).await, Ok(Vec::new()));
        let elsewhere = accounts.teams_among(&TenantId::new("globex"), &ids).await;
        assert_eq!(elsewhere, Ok(Vec::new()));
    })
    .await;
}

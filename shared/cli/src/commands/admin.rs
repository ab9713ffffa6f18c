//! `curlew admin`: issues sign-in tokens for the pages under `/admin`, and ends all sessions.

use crate::args::AdminWhat;
use crate::commands::blocks::explain;
use crate::failure::usage;
use crate::output;
use crate::world::World;
use anyhow::{Context, Result};
use curlew_app::{random_secret, web_secret};
use curlew_people::audit_log::{Act, COMMAND_LINE};
use curlew_people::sessions::{SESSION_VALID_FOR, Sessions, TOKEN_VALID_FOR, operator_name};

pub(super) async fn run(world: &World, what: AdminWhat) -> Result<()> {
    let sessions = Sessions { blobs: world.ports.blobs.clone(), clock: world.clock.clone() };
    match what {
        AdminWhat::Login { name } => login(world, &sessions, &name).await,
        AdminWhat::Logout => {
            let ended = sessions.end_all().await.map_err(explain)?;
            world.desk.actions.log.add(COMMAND_LINE, Act::new("end_sessions", "all")).await?;
            output::line(format!("{} ended", output::count_are(ended as u64, "session")))
        }
    }
}

async fn login(world: &World, sessions: &Sessions, name: &str) -> Result<()> {
    let Some(name) = operator_name(name) else { return Err(usage("a name must have 1 to 64 printable characters")) };
    let random = random_secret().context("the system provides no random bytes")?;
    let secret = web_secret(world.ports.blobs.as_ref()).await?;
    sessions.issue(&random, name).await.map_err(explain)?;
    world.desk.actions.log.add(COMMAND_LINE, Act::new("login_token", name)).await?;
    let base = world.config.web.base_url.as_deref().map_or("", |base| base.trim_end_matches('/'));
    output::line(format!(
        "Paste this on the page {base}/admin of the running server, within {} minutes. It works once; the session \
         ends after {} hours.",
        TOKEN_VALID_FOR.0 / 60_000,
        SESSION_VALID_FOR.0 / 3_600_000
    ))?;
    output::line(curlew_web::login_token(&secret, &random))
}

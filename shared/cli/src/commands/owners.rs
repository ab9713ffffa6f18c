//! `curlew owners`: lists the claims to hosts, with their proofs and requests.

use crate::args::ListArgs;
use crate::commands::blocks::explain;
use crate::output;
use crate::world::World;
use anyhow::{Result, bail};
use curlew_model::Ownership;
use curlew_people::ownership::claims;
use curlew_policy::site::ownership::proven_until;

pub(super) async fn run(world: &World, args: &ListArgs) -> Result<()> {
    let wanted = args.key();
    let mut all = claims(world.ports.blobs.as_ref()).await.map_err(explain)?;
    all.retain(|of| wanted.is_none_or(|host| of.host == host));
    if let Some(host) = wanted.filter(|_| all.is_empty()) {
        bail!("nobody has claimed '{host}'");
    }
    if all.is_empty() && !args.json {
        output::line("Nobody has claimed a host.")?;
    }
    all.iter().try_for_each(|of| if args.json { output::json(of) } else { show(world, of) })
}

fn show(world: &World, of: &Ownership) -> Result<()> {
    let now = world.clock.now();
    for claim in &of.claims {
        let proof = match (claim.proof, proven_until(claim, now)) {
            (Some((way, _)), Some(until)) => format!("proven by {} until {}", way.as_str(), output::when(until)),
            _ => "not proven".to_owned(),
        };
        output::line(format!("{}  {}  {proof}", of.host, claim.challenge))?;
        for (request, at) in &claim.asked {
            let done = claim.done.get(request).filter(|done| *done >= at);
            let done = done.map_or_else(|| "not done yet".to_owned(), |done| format!("done {done}"));
            let request = format!("{request:?}").to_lowercase();
            output::line(format!("    {at}  {request}, {done}"))?;
        }
    }
    Ok(())
}

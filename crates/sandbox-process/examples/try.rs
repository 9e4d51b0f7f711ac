//! Trial.
use std::sync::Arc;
use sandbox::*;
use sandbox_process::*;
struct No;
impl HostCalls for No {
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Box<serde_json::value::RawValue>, HostCallError>> {
        Box::pin(async move { Ok(serde_json::value::to_raw_value(&call.args).unwrap()) })
    }
}
fn main() {
    jail::dispatch();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let data: std::path::PathBuf = std::env::args().nth(1).unwrap().into();
        let code = std::fs::read_to_string(std::env::args().nth(2).unwrap()).unwrap();
        let n: u32 = std::env::args().nth(3).map_or(1, |n| n.parse().unwrap());
        let backend = Process::new(Config {
            data, python: python::Settings { path: std::env::var_os("PY").map(Into::into), search_path: std::env::var_os("PATH") },
            profile: Profile::Auto, require: Requirement::SingleTenant, limits: types::Limits::default(),
            helper: vec![std::env::current_exe().unwrap().into()], floor: Floor::Offered });
        backend.warm();
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let mut times = vec![];
        for i in 0..n {
            let t = std::time::Instant::now();
            let spec = LaunchSpec { session: types::SessionId::new("x"), limits: types::Limits::default(), first_code: code.clone() };
            let launched = if std::env::var_os("FLOOR").is_some() { backend.launch_floor(spec).await } else { backend.launch(spec).await };
            let mut guest = match launched { Ok(g) => g, Err(e) => { eprintln!("ERR {e}"); return; } };
            let t1 = t.elapsed();
            let outcome = guest.execute(Run { code: code.clone(), wall_time: std::time::Duration::from_secs(10), cancel: Default::default() }, Arc::new(No)).await;
            let t2 = t.elapsed();
            times.push(t2);
            if i == 0 { println!("{t1:?} {t2:?}\n{outcome:#?}"); }
            guest.close().await;
        }
        times.sort();
        println!("p50 {:?} p99 {:?}", times[times.len()/2], times[times.len()*99/100]);
    });
}

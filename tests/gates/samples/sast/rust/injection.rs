use std::process::Command;

use axum::extract::{Path, Query};
use axum::response::Redirect;
use sqlx::PgPool;

async fn orders(pool: &PgPool, status: &str) -> Result<u64, sqlx::Error> {
    let sql = format!("SELECT total FROM orders WHERE status = '{}'", status);
    // ruleid: swarmgate.rust.sql-built-with-format
    sqlx::query(&sql).execute(pool).await?;
    // ok: swarmgate.rust.sql-built-with-format
    let done = sqlx::query("SELECT total FROM orders WHERE status = $1").bind(status).execute(pool).await?;
    Ok(done.rows_affected())
}

fn remove(connection: &rusqlite::Connection, tenant: &str) -> rusqlite::Result<usize> {
    // ok: swarmgate.rust.sql-built-with-format
    connection.execute("DELETE FROM carts WHERE tenant = ?1", [tenant])?;
    // ruleid: swarmgate.rust.sql-built-with-format
    connection.execute(&format!("DELETE FROM carts WHERE tenant = '{tenant}'"), [])
}

fn convert(format: &str) -> std::io::Result<()> {
    // ruleid: swarmgate.rust.command-injection
    Command::new("sh").arg("-c").arg(format!("convert in.png out.{format}")).status()?;
    // ok: swarmgate.rust.command-injection
    Command::new("sh").arg("-c").arg("sync").status()?;
    // ok: swarmgate.rust.command-injection
    Command::new("convert").arg("in.png").arg(format!("out.{format}")).status()?;
    Ok(())
}

async fn download(Path(name): Path<String>) -> Vec<u8> {
    // ruleid: swarmgate.rust.path-traversal
    tokio::fs::read(format!("/srv/uploads/{}", name)).await.unwrap_or_default()
}

async fn logo(Path(name): Path<String>) -> Vec<u8> {
    println!("logo of {}", name);
    // ok: swarmgate.rust.path-traversal
    tokio::fs::read("/srv/uploads/logo.png").await.unwrap_or_default()
}

async fn preview(Query(url): Query<String>) -> String {
    // ruleid: swarmgate.rust.ssrf
    let page = reqwest::get(url).await;
    // ok: swarmgate.rust.ssrf
    let status = reqwest::get("https://status.internal/").await;
    format!("{} {}", page.is_ok(), status.is_ok())
}

async fn login(Query(next): Query<String>) -> Redirect {
    if next.is_empty() {
        // ok: swarmgate.rust.open-redirect
        return Redirect::to("/home");
    }
    // ruleid: swarmgate.rust.open-redirect
    Redirect::to(&next)
}

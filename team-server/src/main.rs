//! The program: reads the command line, does one thing, and says how it went. Logs and results go to
//! standard output, everything for a person beside them to standard error.

use std::io::Write;
use std::process::ExitCode;

use memdir_team_server::{
    Command, DATABASE, HELP, Options, Server, StartError, Storage, commands, description, first_run,
};

/// Wrong usage, as the other programs of this project say it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let database = std::env::var(DATABASE).ok();
    let options = match Options::parse(std::env::args_os().skip(1), database) {
        Ok(options) => options,
        Err(error) => {
            tell(&error);
            return ExitCode::from(USAGE);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(options)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

async fn run(options: Options) -> Done {
    let mut out = std::io::stdout();
    let storage = match &options.command {
        Command::Serve => return serve(options).await,
        Command::Help => return Ok(write!(out, "{HELP}")?),
        Command::Version => {
            return Ok(writeln!(
                out,
                "memdir-team-server {}",
                memdir_core::VERSION
            )?);
        }
        Command::OpenApi => return Ok(writeln!(out, "{}", description()?)?),
        _ => Storage::open(&options.data).await?,
    };
    let done = command(&options, &storage, &mut out).await;
    storage.close().await;
    done
}

async fn command(options: &Options, storage: &Storage, out: &mut std::io::Stdout) -> Done {
    match &options.command {
        Command::CreateToken { name, rights } => {
            let made = commands::create_token(storage, name, rights.clone()).await?;
            let (head, token) = made;
            tell(&format!(
                "token {} of {}; it is shown this once:",
                head.id, head.name
            ));
            writeln!(out, "{}", token.reveal())?;
        }
        Command::ListTokens => commands::list_tokens(storage, out).await?,
        Command::RevokeToken(id) => commands::revoke_token(storage, id).await?,
        Command::History { repository, key } => {
            commands::history(storage, repository, key.as_deref(), out).await?;
        }
        Command::Restore {
            repository,
            key,
            version,
        } => {
            let restored =
                commands::restore(storage, &options.limits, repository, key, *version).await?;
            writeln!(out, "{restored}")?;
        }
        Command::Serve | Command::OpenApi | Command::Help | Command::Version => {}
    }
    Ok(())
}

async fn serve(options: Options) -> Done {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_writer(std::io::stdout)
        .init();
    // Before anything is opened: who asks to end during the start is heard, too.
    let end = asked_to_end()?;
    let started = Server::start(&options.data, &options.listen, options.limits).await;
    let server = started.map_err(|error: StartError| error.to_string())?;
    if commands::has_no_tokens(server.storage()).await? {
        tell(&first_run(server.address(), &options.data));
    }
    let address = format!("http://{}", server.address());
    tracing::info!(address, version = memdir_core::VERSION, "listening");
    end.await;
    tracing::info!("stopping");
    server.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// Waits for the signal by which a service is ended, or for the key.
#[cfg(unix)]
fn asked_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Waits for the key.
#[cfg(not(unix))]
fn asked_to_end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}

/// For the person at the terminal; one who is not there misses nothing.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}

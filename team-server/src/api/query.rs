//! How the query of an address is read: a parameter that matters comes once.

use axum::extract::Query;
use axum::http::Uri;

use crate::problem::Problem;
use crate::rights::Repository;

pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub fn of(uri: &Uri) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| Problem::bad_request("the query of the address cannot be read"))?;
        Ok(Self(pairs.0))
    }

    /// The value of a parameter, if it is there.
    pub fn get(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Problem::bad_request(format!("`{name}` comes twice"))),
        }
    }

    /// A key, if it is there. What no database takes for a text is none.
    pub fn key(&self) -> Result<Option<&str>, Problem> {
        match self.get("key")? {
            Some(key) if key.contains('\0') => Err(Problem::bad_request("`key` is no key")),
            key => Ok(key),
        }
    }

    /// A version, if it is there.
    pub fn version(&self, name: &str) -> Result<Option<i64>, Problem> {
        let number = |text: &str| {
            text.parse::<i64>()
                .ok()
                .filter(|number| *number > 0)
                .ok_or_else(|| Problem::bad_request(format!("`{name}` is no version")))
        };
        self.get(name)?.map(number).transpose()
    }

    /// The repository that is asked for.
    pub fn repository(&self) -> Result<Repository, Problem> {
        self.get("repo")?
            .and_then(Repository::parse)
            .ok_or_else(|| Problem::bad_request("`repo` must name a repository, `owner/repo`"))
    }
}

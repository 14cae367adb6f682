//! The task class: one call that offers the purchase tool to a model, and nothing else.

use mainstay_class::{Budget, Class, Problems, TaskClass, ToolRecord, secs};
use mainstay_dispatch::Write;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::super::receiver::OrderRequest;
use super::super::super::tool::Arguments;
use super::Way;

/// The name of the call that offers the tool.
pub(super) const ASKED: &str = "purchases";

/// The tool's name, as models know it.
const TOOL: &str = "create_purchase_order";

/// More than a run of the experiment can need: what bounds it is how it asks, not how often.
const ATTEMPTS: u32 = 8;
const RETRIES: u32 = 32;

/// The purchase request that a run is for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Purchase {
    pub(super) request_no: String,
}

/// The class for the tool `purchase`.
pub(super) fn class<D>(way: Way, purchase: &D) -> Result<Class<Purchase, Vec<ToolRecord>>, Problems>
where
    D: Write<Request = OrderRequest> + Clone,
{
    let mut g = TaskClass::<Purchase>::define("purchase", 1);
    g.budget(Budget::new().answer_by(secs(60)).retries(RETRIES));
    let about = "Places a purchase order";
    let order = g
        .tool_write(TOOL, about, purchase, wanted)
        .effect("purchase_order")
        .attempts(ATTEMPTS)
        // Words for people make no other order.
        .significant(&["/item", "/qty"]);
    let order = match way {
        Way::BusinessId | Way::Searched => order.business_id(|purchase| &purchase.request_no),
        Way::RunAlone => order,
    };
    let order = order.add();
    let asked = g.tools(ASKED, (), |_, ()| ()).offer(&order).add();
    g.finish(asked, |_, asked| asked.clone())
}

/// What is ordered, of what the model wrote and the run knew before.
fn wanted(purchase: &Purchase, arguments: Arguments) -> OrderRequest {
    OrderRequest {
        request_no: Some(purchase.request_no.clone()),
        ..arguments.order()
    }
}

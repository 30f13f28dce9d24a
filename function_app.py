"""The function app: registers the blueprints, nothing else. Importing it needs no setting and opens no connection."""

import azure.functions as func

from blueprints import (
    fan_out_ledger,
    health_http,
    ledgers_http,
    look_after_orders,
    orders_http,
    process_order_operation,
)

app = func.FunctionApp()

app.register_functions(process_order_operation.bp)
app.register_functions(fan_out_ledger.bp)
app.register_functions(look_after_orders.bp)
app.register_functions(orders_http.bp)
app.register_functions(ledgers_http.bp)
app.register_functions(health_http.bp)

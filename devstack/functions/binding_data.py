"""The one place that makes what a Service Bus SDK-type parameter is decoded from.

============  =====================================================================================
field         value
============  =====================================================================================
version       ``"1.0"``
source        ``"AzureServiceBusReceivedMessage"``
content_type  ``"application/octet-stream"``
content       16 octets lock token, then one AMQP 1.0 message
============  =====================================================================================

The content, in this order and without gaps:

1. Lock token: 16 octets, the GUID in .NET's layout (first three groups little-endian; ``UUID.bytes_le``).
2. Header (0x70): as the broker sent it, with delivery-count **one more** than on the wire, because the .NET
   client adds 1 when it receives: a first delivery reads 1.
3. Delivery annotations (0x71): a map of one entry, ``x-opt-lock-token`` -> the lock token as AMQP uuid
   (big-endian, RFC 4122).
4. Message annotations (0x72): as the broker sent them, ``x-opt-locked-until``, ``x-opt-sequence-number`` and
   ``x-opt-enqueued-time`` among them.
5. Properties (0x73), application properties (0x74), body (0x75 to 0x77) and footer (0x78), each only if it is
   there: the sender's octets, untouched.

Source: Service Bus extension 5.x, ServiceBusExtensionConfigProvider; measured on Azure Functions host 4.1037.
"""

from devstack.functions.wire import ModelBindingData
from devstack.servicebus.client import Delivery, received_message


def received_message_data(delivery: Delivery) -> ModelBindingData:
    """The binding data of one delivery."""
    return ModelBindingData(
        version="1.0",
        source="AzureServiceBusReceivedMessage",
        content_type="application/octet-stream",
        content=delivery.lock_token.bytes_le + received_message(delivery),
    )

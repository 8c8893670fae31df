// #region handler
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLease, LeaseHeldError } from '@leasehold/core'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'

// Outside of the handler: the next invocations of this instance use it again. `leasehold doctor` checks the table instead.
const store = new DynamodbLeaseStore(new DynamoDBClient(), { table: 'leases', probe: false })

export async function handler({ order }: { order: string }) {
  // Longer than the time limit of the function: no heartbeat is needed, and none is sent.
  const lease = createLease(store, `order/${order}`, { heartbeatTimeout: 60_000, strategy: 'manual' })
  try {
    return await lease.run(async ({ fencingToken, checkLease }) => {
      const invoice = await makeInvoice(order)
      // The platform may have frozen the process during the await.
      if (!checkLease()) return { status: 'late' }
      await save(invoice, fencingToken)
      return { status: 'done' }
    })
  } catch (error) {
    // SQS, EventBridge and Step Functions call again, after the delay that you set.
    if (error instanceof LeaseHeldError) return { status: 'busy' }
    throw error
  }
}
// #endregion handler

async function makeInvoice(order: string): Promise<string> {
  return `invoice of ${order}`
}

/** The writes of the handler, for its test. */
export const saved: { readonly invoice: string; readonly token: bigint }[] = []

async function save(invoice: string, token: bigint): Promise<void> {
  saved.push({ invoice, token })
}

import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'
import { NatsGuard } from '@leasehold/nats'
import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'

const KEY = 'ledger'

/** A key of a bucket, which is written under the fencing token of each writer. */
export class NatsLedger implements Ledger {
  readonly #guard: NatsGuard

  constructor(connection: NatsConnection, bucket: string) {
    this.#guard = new NatsGuard(connection, { bucket })
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    await this.#guard.transact(KEY, entry.token, (lines) => Buffer.from(lines ?? []).toString() + toLine(entry))
  }
  // #endregion fenced

  close(): Promise<void> {
    return this.#guard.close()
  }
}

/** Makes the buckets of the demo. Resolves with how the ledger is read, and how they are deleted. */
export async function makeLedger(url: string, bucket: string, leases: string) {
  const connection = await connect({ servers: url })
  const kvm = new Kvm(connection)
  const ledger = await kvm.create(bucket)
  return {
    read: async (): Promise<readonly Entry[]> => parseLedger((await ledger.get(KEY))?.string() ?? ''),
    remove: async (): Promise<void> => {
      await ledger.destroy()
      await (await kvm.open(leases)).destroy()
      await connection.close()
    },
  }
}

// #region probe
import { MemoryLeaseStore } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, StoreCall, StoreFinding } from '@leasehold/core/store'
import { FirstUseProbe } from '@leasehold/core/store-kit'

/** A server that says how it is set up. */
interface Server {
  settings(call: StoreCall): Promise<{ readonly dropsOldKeys: boolean }>
}

export class CheckedStore extends MemoryLeaseStore {
  readonly #server: Server
  readonly #first = new FirstUseProbe(this.kind, true, (_, call) => this.probe(call))

  constructor(server: Server) {
    super()
    this.#server = server
  }

  override async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    if (this.#first.isDue) await this.#first.require(request.name, call)
    return await super.acquire(request, call)
  }

  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    const check = 'eviction'
    const { dropsOldKeys } = await this.#server.settings(call)
    if (!dropsOldKeys) return [{ check, result: 'ok' }]
    const found = 'the server drops old keys when it is full'
    return [{ check, result: 'failed', setting: 'drop-old-keys', found, change: 'set drop-old-keys to off' }]
  }
}
// #endregion probe

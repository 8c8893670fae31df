import { type EtcdClient, EtcdGuard } from '@leasehold/etcd'
import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'

/** Keys in etcd, one for each entry; each is written under its fencing token. */
export class EtcdLedger implements Ledger {
  readonly #client: EtcdClient
  readonly #key: string
  readonly #guard: EtcdGuard
  readonly #writer = `${process.pid}`
  #count = 0

  constructor(client: EtcdClient, key: string) {
    this.#client = client
    this.#key = key
    this.#guard = new EtcdGuard(client)
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    this.#count += 1
    const put = `${this.#key}/${this.#writer}-${this.#count}`
    await this.#guard.transact(this.#key, entry.token, { write: [{ put, value: toLine(entry) }] })
  }
  // #endregion fenced

  close(): Promise<void> {
    this.#client.close()
    return Promise.resolve()
  }
}

/** By the JSON gateway of etcd, in the order in which the entries were written. */
export async function readEtcdLedger(endpoint: string, key: string): Promise<readonly Entry[]> {
  const [first, end] = [`${key}/`, `${key}0`].map((text) => Buffer.from(text).toString('base64'))
  const request = { key: first, range_end: end, sort_order: 'ASCEND', sort_target: 'CREATE' }
  const response = await fetch(`${endpoint}/v3/kv/range`, { method: 'POST', body: JSON.stringify(request) })
  const { kvs = [] } = (await response.json()) as { kvs?: { value: string }[] }
  return parseLedger(kvs.map(({ value }) => Buffer.from(value, 'base64').toString()).join(''))
}

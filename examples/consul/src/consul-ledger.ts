import { randomUUID } from 'node:crypto'
import { ConsulGuard } from '@leasehold/consul'
import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'

/** Keys of Consul, one for each entry; each is written under the fencing token of its writer. */
export class ConsulLedger implements Ledger {
  readonly #key: string
  readonly #guard: ConsulGuard

  constructor(url: string, key: string) {
    this.#key = key
    this.#guard = new ConsulGuard({ addresses: [url], token: process.env.CONSUL_HTTP_TOKEN })
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    const Value = Buffer.from(toLine(entry)).toString('base64')
    const operation = { KV: { Verb: 'set', Key: `${this.#key}/${randomUUID()}`, Value } }
    await this.#guard.transact(this.#key, entry.token, [operation])
  }
  // #endregion fenced

  close(): Promise<void> {
    return this.#guard.close()
  }
}

/** The entries in the order in which they were written. */
export async function readConsulLedger(url: string, key: string): Promise<readonly Entry[]> {
  const answer = await fetch(`${url}/v1/kv/${key}/?recurse&consistent`, { headers })
  const keys = (await answer.json()) as { Value: string; ModifyIndex: number }[]
  const inOrder = keys.sort((one, other) => one.ModifyIndex - other.ModifyIndex)
  return parseLedger(inOrder.map(({ Value }) => Buffer.from(Value, 'base64').toString()).join(''))
}

export async function deleteAll(url: string, prefix: string): Promise<void> {
  await fetch(`${url}/v1/kv/${prefix}?recurse`, { method: 'DELETE', headers })
}

const { CONSUL_HTTP_TOKEN } = process.env
const headers: Record<string, string> = CONSUL_HTTP_TOKEN === undefined ? {} : { 'x-consul-token': CONSUL_HTTP_TOKEN }

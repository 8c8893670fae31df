import type { AppliedFault, History, Notice } from '../../src/history/history.js'
import type { Call, Operation } from '../../src/history/operation.js'

interface Caller {
  readonly client?: number
  readonly life?: number
}

/** Writes a history by hand: one name, `x`, unless another is given. */
export class HistoryOf {
  readonly operations: Operation[] = []
  readonly notices: Notice[] = []
  readonly faults: AppliedFault[] = []

  call(from: number, to: number, call: DistributiveOmit<Call, 'name'>, { client = 1, life = 1 }: Caller = {}): this {
    this.operations.push({ name: 'x', ...call, id: this.operations.length + 1, client, life, from, to } as Operation)
    return this
  }

  acquired(from: number, to: number, token: bigint, validUntil: number, caller: Caller = {}): this {
    return this.call(from, to, { call: 'acquire', outcome: 'granted', token, validUntil }, caller)
  }

  held(from: number, to: number, token: bigint, validUntil: number, caller: Caller = {}): this {
    return this.call(from, to, { call: 'check', outcome: 'held', token, validUntil }, caller)
  }

  write(from: number, to: number, token: bigint, count: number, more: WriteOptions = {}): this {
    const { outcome = 'accepted', client = 1, life = 1, value = `${count}/${client}` } = more
    return this.call(from, to, { call: 'write', token, value, count, outcome }, { client, life })
  }

  read(from: number, to: number, value: string | undefined, caller: Caller = {}): this {
    const count = Number(value?.split('/')[0])
    const seen = value === undefined ? {} : { value, count }
    return this.call(from, to, { call: 'read', outcome: 'read', ...seen }, caller)
  }

  lost(at: number, token: bigint, reason: string, { client = 1, life = 1 }: Caller = {}): this {
    this.notices.push({ notice: 'lost', client, life, name: 'x', token, at, reason })
    return this
  }

  renewed(at: number, token: bigint, validUntil: number, { client = 1, life = 1 }: Caller = {}): this {
    this.notices.push({ notice: 'renewed', client, life, name: 'x', token, at, validUntil })
    return this
  }

  fault(from: number, to: number): this {
    this.faults.push({ kind: 'kill-server', target: 'server 1', from, to })
    return this
  }

  /** The whole, from 0 to this instant. */
  until(to: number): History {
    return {
      title: 'made by hand',
      clients: 3,
      ttl: 100,
      operations: this.operations.toSorted((left, right) => left.from - right.from),
      notices: this.notices,
      faults: this.faults,
      from: 0,
      to,
    }
  }
}

interface WriteOptions extends Caller {
  readonly outcome?: 'accepted' | 'refused' | 'unknown'
  readonly value?: string
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

import { Random } from '@leasehold/simulator'
import type { RegisterCall } from '../../src/checks/register/register-call.js'

export interface RandomCallsOptions {
  readonly seed: number
  readonly calls: number
  readonly clients: number
  /** The part of the calls whose outcome is not known. */
  readonly unknown: number
}

interface Planned {
  readonly client: number
  readonly from: number
  readonly to: number
  /** When the register does it. */
  readonly at: number
  readonly isUnknown: boolean
}

/**
 * The calls of clients that hold a lease in turn, or believe so, on a guarded register that is right. Some are slow, others are
 * done long after their client has given up.
 */
export function randomCalls(options: RandomCallsOptions): RegisterCall[] {
  const random = new Random(options.seed)
  const planned = planCalls(options, random)
  const calls: RegisterCall[] = []
  let largest = -1n
  let value: string | undefined
  let count = 0
  for (const { client, from, to, at, isUnknown } of planned.toSorted((left, right) => left.at - right.at)) {
    const base = { id: calls.length + 1, client, life: 1, name: 'x', from, to }
    if (random.next() < 0.5) {
      const seen = value === undefined ? {} : { value, count: Number(value.split('/')[0]) }
      if (isUnknown) calls.push({ ...base, call: 'read', outcome: 'unknown' })
      else calls.push({ ...base, call: 'read', outcome: 'read', ...seen })
      continue
    }
    // The later, the larger; now and then that of an earlier holder.
    const turn = Math.floor(at / 40) - (random.next() < 0.2 ? 1 : 0)
    const token = BigInt((turn + 2) * 10)
    count += 1
    const write = { ...base, call: 'write', token, value: `${count}/${client}`, count } as const
    const isAccepted = token >= largest && !(isUnknown && random.next() < 0.4)
    if (isAccepted) ({ token: largest, value } = write)
    if (isUnknown) calls.push({ ...write, outcome: 'unknown', to: random.next() < 0.5 ? Infinity : to })
    else calls.push({ ...write, outcome: isAccepted ? 'accepted' : 'refused' })
  }
  return calls.sort((left, right) => left.from - right.from)
}

function planCalls({ calls, clients, unknown }: RandomCallsOptions, random: Random): Planned[] {
  const free = Array.from({ length: clients }, () => random.between(0, 10))
  return Array.from({ length: calls }, () => {
    const client = free.indexOf(Math.min(...free))
    const from = (free[client] ?? 0) + random.between(0, 5)
    const to = from + random.between(0.5, random.next() < 0.05 ? 60 : 8)
    free[client] = to
    const isUnknown = random.next() < unknown
    return { client, from, to, isUnknown, at: random.between(from, isUnknown ? to + 40 : to) }
  })
}

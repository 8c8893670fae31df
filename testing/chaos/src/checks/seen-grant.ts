import type { History, Notice } from '../history/history.js'
import type { Acquire, Check, HandOver, Operation, Release } from '../history/operation.js'

type Call<T> = T & Pick<Operation, 'id' | 'client' | 'life' | 'from' | 'to'>
type Giving = Call<Release> | Call<HandOver>

/** All that was recorded about one grant of one process. */
export interface SeenGrant {
  readonly client: number
  readonly life: number
  readonly name: string
  readonly token: bigint
  readonly acquires: Call<Acquire>[]
  readonly held: Call<Check>[]
  readonly givings: Giving[]
  readonly renewals: Notice[]
  readonly losses: Notice[]
  /** The last instant at which this process did something: it may have been killed at any time after. */
  readonly lastSign: number
}

/** The grants of a history, as far as their tokens are known. */
export function seenGrants({ operations, notices }: History): SeenGrant[] {
  const lastSigns = lastSignsOf(operations, notices)
  const grants = new Map<string, SeenGrant>()
  const find = (entry: Process & { readonly name: string }, token: bigint): SeenGrant => {
    const { client, life, name } = entry
    const key = `${client} ${life} ${token} ${name}`
    let grant = grants.get(key)
    if (grant === undefined) {
      const lastSign = lastSigns.get(processOf(entry)) ?? Number.NEGATIVE_INFINITY
      const none = { acquires: [], held: [], givings: [], renewals: [], losses: [] }
      grant = { client, life, name, token, lastSign, ...none }
      grants.set(key, grant)
    }
    return grant
  }
  for (const operation of operations) {
    if (operation.call === 'release' || operation.call === 'hand-over') {
      find(operation, operation.token).givings.push(operation)
    } else if ((operation.call === 'acquire' || operation.call === 'check') && operation.token !== undefined) {
      const grant = find(operation, operation.token)
      if (operation.call === 'acquire') grant.acquires.push(operation)
      else grant.held.push(operation)
    }
  }
  for (const notice of notices) {
    const grant = find(notice, notice.token)
    if (notice.notice === 'lost') grant.losses.push(notice)
    else grant.renewals.push(notice)
  }
  return [...grants.values()]
}

interface Process {
  readonly client: number
  readonly life: number
}

/** The last sign of each process. */
export function lastSignsOf(operations: readonly Operation[], notices: readonly Notice[]): Map<string, number> {
  const lastSigns = new Map<string, number>()
  const see = (process: Process, at: number): void => {
    const key = processOf(process)
    lastSigns.set(key, Math.max(lastSigns.get(key) ?? at, at))
  }
  for (const operation of operations) see(operation, Number.isFinite(operation.to) ? operation.to : operation.from)
  for (const notice of notices) see(notice, notice.at)
  return lastSigns
}

export function processOf({ client, life }: Process): string {
  return `${client}.${life}`
}

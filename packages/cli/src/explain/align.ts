import { grouped } from './grouped.js'
import type { ProcessStory } from './process-story.js'

/** `first` happened before `second`, whatever the clocks say. */
interface Order {
  readonly first: ProcessStory
  readonly firstAt: number
  readonly second: ProcessStory
  readonly secondAt: number
}

const MOST_ROUNDS = 100

/**
 * Moves the clocks of the processes, as little as needed, so that no effect comes before its cause: a grant with a smaller
 * fencing token was asked for before one with a larger token was answered, and a holder had asked for its grant before
 * another process saw it. The clock of the first process stays.
 */
export function alignClocks(processes: readonly ProcessStory[]): void {
  const orders = [...ordersOfGrants(processes), ...ordersOfSights(processes)]
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    let isChanged = false
    for (const { first, firstAt, second, secondAt } of orders) {
      const by = firstAt + first.shift - (secondAt + second.shift)
      if (by <= 0) continue
      isChanged = true
      if (second === processes[0]) first.shift -= by
      else second.shift += by
    }
    if (!isChanged) return
  }
}

interface Granted {
  readonly process: ProcessStory
  readonly name: string
  readonly grantId: string
  readonly token: bigint
  readonly askedAt: number
  readonly answeredAt: number
}

function grantsOf(processes: readonly ProcessStory[]): readonly Granted[] {
  return processes.flatMap((process) =>
    process.leases.flatMap((lease) =>
      lease.events.flatMap(({ before, after, wall, at }) => {
        if (before.phase !== 'acquiring' || (after.phase !== 'held' && after.phase !== 'jeopardy')) return []
        const { grantId, fencingToken: token } = after.grant
        const askedAt = wall - at + before.sentAt
        return [{ process, name: lease.name, grantId, token, askedAt, answeredAt: wall }]
      }),
    ),
  )
}

function ordersOfGrants(processes: readonly ProcessStory[]): readonly Order[] {
  const orders: Order[] = []
  for (const grants of grouped(grantsOf(processes), ({ name }) => name).values()) {
    const sorted = grants.toSorted((one, other) => (one.token < other.token ? -1 : 1))
    sorted.forEach((second, place) => {
      const first = sorted[place - 1]
      if (first === undefined || first.process === second.process) return
      orders.push({ first: first.process, firstAt: first.askedAt, second: second.process, secondAt: second.answeredAt })
    })
  }
  return orders
}

function ordersOfSights(processes: readonly ProcessStory[]): readonly Order[] {
  const grants = new Map(grantsOf(processes).map((grant) => [grant.grantId, grant]))
  const orders: Order[] = []
  for (const process of processes) {
    for (const { events } of process.leases) {
      for (const { event, wall } of events) {
        const seen = holderIn(event)
        const grant = seen === undefined ? undefined : grants.get(seen)
        if (grant === undefined || grant.process === process) continue
        orders.push({ first: grant.process, firstAt: grant.askedAt, second: process, secondAt: wall })
      }
    }
  }
  return orders
}

/** The grant id of the holder that an answer of the store showed. */
function holderIn(event: ProcessStory['leases'][number]['events'][number]['event']): string | undefined {
  if (event.type === 'acquire-answer' && !event.outcome.granted) return event.outcome.holder?.grantId
  if (event.type === 'renew-answer' && !event.outcome.renewed) return event.outcome.holder?.grantId
  return event.type === 'read-answer' ? event.record?.grantId : undefined
}

import type { LeaseRecord } from '@leasehold/core'
import type { EngineEvent } from '@leasehold/core/internal'
import { codeOf, type MachineEvent } from '@leasehold/recorder/internal'
import { durationText } from '../duration-text.js'
import { blockedFinding } from './blocked.js'
import type { Finding } from './causes.js'
import type { LeaseStory, Loss, ProcessStory, StoreCallStory } from './process-story.js'

type Stall = Extract<MachineEvent, { readonly type: 'stall' }>

/** The facts from which the cause of a loss is concluded. Instants are on the clock of the process that lost. */
interface Case {
  readonly process: ProcessStory
  readonly lease: LeaseStory
  readonly loss: Loss
  readonly others: readonly ProcessStory[]
  /** From the last confirmed request to the loss. */
  readonly from: number
  readonly to: number
  /** The calls of the lease in that time. */
  readonly calls: readonly StoreCallStory[]
}

/** Says why a lease was lost. The rules stand in the order of how much they prove. */
export function diagnose(process: ProcessStory, lease: LeaseStory, loss: Loss, all: readonly ProcessStory[]): Finding {
  const { confirmedAt: from, grant } = loss.hold
  const calls = lease.calls.filter(({ sentAt }) => sentAt >= from && sentAt <= loss.at)
  const others = all.filter((other) => other !== process)
  const one: Case = { process, lease, loss, others, from, to: loss.at, calls }
  const { reason, owner } = loss.lost
  switch (reason) {
    case 'max-hold':
      return { cause: 'max-hold', because: 'it was held for maxHold' }
    case 'parent-lost':
      return { cause: 'parent-lost', because: 'the lease above it was lost or released' }
    case 'closed':
      return { cause: 'closed', because: 'its store or its provider was closed' }
    case 'unresponsive':
      return (
        stallFinding(one) ?? {
          cause: 'unresponsive',
          because: 'its main thread did not react for unresponsiveAfter',
          process: process.id,
        }
      )
    case 'broken':
      return broken(one)
    case 'deleted':
      return failover(one) ?? recordGone
    case 'taken':
      return sharedOwner(one, owner) ?? failover(one) ?? early(one, grant.fencingToken)
    default:
      // A store that refuses the renewal of a valid grant counts by another clock.
      if (loss.event.event.type === 'renew-answer' && loss.at < loss.hold.validUntil) return failover(one) ?? clockStep
      return expired(one)
  }
}

const recordGone: Finding = {
  cause: 'record-gone',
  because:
    'its record was gone from the store although it was valid: the key was deleted, evicted, or lost in a restart. Look for ' +
    'an eviction policy, a delete by hand, or a flush',
}

const clockStep: Finding = {
  cause: 'store-clock-step',
  because:
    'the store counted its ttl as over while the holder still had time: the clock of the store was set forward. Look at the ' +
    'time service of the server',
}

function broken({ others, loss, lease, process }: Case): Finding {
  for (const other of others) {
    const by = callsOf(other, lease.name).find(
      ({ method, outcome, endedAt }) =>
        method === 'break' && outcome === 'answered' && (endedAt ?? 0) + other.shift <= loss.at + process.shift,
    )
    const owner = other.leases.find(({ name }) => name === lease.name)?.owner
    if (by !== undefined) {
      return {
        cause: 'break',
        because: `'${owner}' (${other.label}) broke it, to preempt the holder`,
        process: other.id,
      }
    }
  }
  return { cause: 'break', because: 'it was broken: an operator or another program ended it by break' }
}

/** Two processes that claim under one name look like one owner to a store. */
function sharedOwner({ lease, others, process }: Case, owner: string | undefined): Finding | undefined {
  if (owner !== lease.owner) return undefined
  const twin = others.find(({ leases }) => leases.some((other) => other.name === lease.name && other.owner === owner))
  const who = twin === undefined ? 'another process' : twin.label
  return {
    cause: 'shared-owner',
    because: `${who} claimed it under the same owner '${owner}': give each process an owner of its own`,
    process: twin?.id ?? process.id,
  }
}

/** Another owner has it although the validity was not over. */
function early(one: Case, token: bigint): Finding {
  const sights = sightsOf(one)
  const { grantId } = one.loss.hold.grant
  const states = sights.filter((record) => record.grantId === grantId).map(({ state }) => state)
  if (states.includes('breaking') || states.includes('broken')) return broken(one)
  const next = nextGrant(one, token)
  if (next?.hadRecord === false) return recordGone
  const ahead = storeRanAhead(one, sights)
  if (ahead !== undefined) return ahead > LEAST_STEP ? clockStep : broken(one)
  if (next?.hadRecord === true) return clockStep
  const isJump = sights.some((record) => record.fencingToken > token + 1n)
  if (isJump) return recordGone
  return {
    cause: 'taken',
    because:
      'the store gave it to another owner although it was valid: its record was removed, or the clock of the store was set ' +
      'forward. A recording of the other owner would tell which',
  }
}

/** By how much the clock of a store has to run ahead to count as set, in milliseconds. */
const LEAST_STEP = 1_000

/**
 * By how much the clock of the store ran ahead while the grant was held, at least; `undefined` if no record shows it. Both
 * times are compared on the clock of the store, and on the one of the holder: the clocks of others do not matter.
 */
function storeRanAhead({ loss, lease }: Case, sights: readonly LeaseRecord[]): number | undefined {
  const { hold, at } = loss
  const own = sights.find(({ grantId, grantedAt }) => grantId === hold.grant.grantId && grantedAt !== undefined)
  const answer = recordsIn(loss.event.event).find(
    ({ owner, grantId }) => grantId !== hold.grant.grantId || owner !== lease.owner,
  )
  if (own?.grantedAt === undefined || answer?.grantedAt === undefined || hold.isWhole !== true) return undefined
  return answer.grantedAt - own.grantedAt - (at - hold.from)
}

/** All records of the name that the answers of the store showed to any process. */
function sightsOf({ process, others, lease }: Case): readonly LeaseRecord[] {
  return [process, ...others].flatMap(({ leases }) =>
    leases
      .filter(({ name }) => name === lease.name)
      .flatMap(({ events }) => events.flatMap(({ event }) => recordsIn(event))),
  )
}

function recordsIn(event: EngineEvent): readonly LeaseRecord[] {
  const { holder, record = holder } = Object('outcome' in event ? event.outcome : event) as {
    readonly holder?: LeaseRecord
    readonly record?: LeaseRecord
  }
  return record === undefined ? [] : [record]
}

function nextGrant({ others, lease }: Case, token: bigint): LeaseStory['holds'][number] | undefined {
  return others
    .flatMap(({ leases }) => leases.filter(({ name }) => name === lease.name))
    .flatMap(({ holds }) => holds)
    .filter(({ grant }) => grant.fencingToken > token)
    .sort((one, other) => (one.grant.fencingToken < other.grant.fencingToken ? -1 : 1))[0]
}

/** The store did not answer for a while, to this process or to another, and then the record was gone. */
function failover(one: Case): Finding | undefined {
  const isOut = isOutOfReach(one.calls, one) || one.others.some((other) => isOutOfReach(callsDuring(other, one), one))
  if (!isOut || nextGrant(one, one.loss.hold.grant.fencingToken)?.hadRecord === true) return undefined
  return {
    cause: 'store-failover',
    because:
      'the store failed over, or was restarted: calls failed, and when it answered again it did not know the grant. A replica ' +
      'may lack the last writes',
  }
}

/** Whether calls failed one after the other for at least half of the time limit of a call: a reset connection is no outage. */
function isOutOfReach(calls: readonly StoreCallStory[], { lease }: Case): boolean {
  let since: number | undefined
  return calls.some((call) => {
    if (!isOutage(call)) {
      since = undefined
      return false
    }
    since ??= call.sentAt
    return (call.endedAt ?? call.sentAt) - since >= lease.rules.operationTimeout / 2
  })
}

/** The validity ran out. */
function expired(one: Case): Finding {
  const refused = one.calls.find(({ error }) => codeOf(error) === 'unauthorised')
  if (refused !== undefined) {
    return {
      cause: 'credentials',
      because: `the store refused the credentials of its process: ${messageOf(refused.error)}`,
      process: one.process.id,
    }
  }
  return stallFinding(one) ?? unanswered(one) ?? unexplained
}

const unexplained: Finding = {
  cause: 'unknown',
  because: 'no heartbeat was confirmed in time, and the recording does not show why',
}

/** How much of the time for the heartbeat the event loop has to have been blocked, to be the cause. */
const STALLED_PART = 0.5

/** The process itself did not run. */
function stallFinding(one: Case): Finding | undefined {
  const { process, from, loss } = one
  const end = Math.min(loss.hold.validUntil, loss.at)
  const stalls = process.machine.flatMap(({ at, event }) => {
    if (event.type !== 'stall') return []
    const within = Math.min(at, end) - Math.max(at - event.duration, heartbeatDue(one))
    return within > 0 ? [{ at, event, within }] : []
  })
  const blocked = stalls.reduce((sum, { within }) => sum + within, 0)
  const needed = (end - heartbeatDue(one)) * STALLED_PART
  const longest = stalls.toSorted((a, b) => b.event.duration - a.event.duration)[0]
  if (longest === undefined || blocked < needed || blocked < (end - from) / 10) {
    return loss.lost.reason === 'suspended' ? suspended(one) : undefined
  }
  return stallCause(one, longest.at, longest.event)
}

/** When the first heartbeat that was not confirmed was due. */
function heartbeatDue({ lease, from, to, loss }: Case): number {
  for (const { after, wall, at } of lease.events) {
    if (wall < from || wall > to || (after.phase !== 'held' && after.phase !== 'jeopardy')) continue
    if (after.call !== undefined) return wall - at + after.call.sentAt
    if (Number.isFinite(after.heartbeatAt)) return Math.min(wall - at + after.heartbeatAt, loss.hold.validUntil - 1)
  }
  return from
}

function suspended({ process }: Case): Finding {
  return { cause: 'suspended', because: 'its machine was suspended, or its VM was paused', process: process.id }
}

function stallCause(one: Case, at: number, stall: Stall): Finding {
  const { process } = one
  const { duration, suspended: asleep } = stall
  const from = at - duration
  // A collection is reported after the turn in which it happened.
  const collected = process.machine.reduce((sum, { at: reported, event }) => {
    const isInside = event.type === 'collection' && reported >= from && reported <= at + 2_000
    return isInside ? sum + event.duration : sum
  }, 0)
  if (asleep >= duration / 2 || one.loss.lost.reason === 'suspended') return suspended(one)
  if (collected >= duration / 2) {
    return {
      cause: 'collection',
      because: `its process collected garbage for ${durationText(collected)}: give it more memory, or keep less`,
      process: process.id,
    }
  }
  return blockedFinding(stall, process.id)
}

/** The heartbeats were sent, and the store did not confirm them. */
function unanswered(one: Case): Finding | undefined {
  const failed = one.calls.filter(
    ({ outcome }) => outcome === 'failed' || outcome === 'given-up' || outcome === 'pending',
  )
  if (failed.length === 0) return undefined
  const during = one.others.map((other) => callsDuring(other, one))
  const limit = one.lease.rules.operationTimeout
  const isSlow = (call: StoreCallStory): boolean => call.answeredLateAt !== undefined || latencyOf(call) >= limit / 4
  const ownSlow = one.calls.filter(isSlow).length
  const seen = during.flat()
  const answered = seen.filter((call) => call.outcome === 'answered')
  const slow = seen.filter(isSlow)
  if (ownSlow > 0 || (slow.length > 0 && slow.length >= answered.length / 2)) return slowStore(one, seen)
  // Clocks that are not aligned well must not make a store look well that was down.
  if (during.some((calls) => isOutOfReach(calls, one))) return storeDown
  const middle = ((failed[0]?.sentAt ?? one.from) + one.to) / 2
  if (answered.some(({ sentAt }) => sentAt >= middle)) return cut(one, failed, true)
  return failed.some(isOutageOfServer) ? storeDown : cut(one, failed, false)
}

const storeDown: Finding = {
  cause: 'store-failover',
  because: 'the store answered no process: it failed over, was restarted, or was down',
}

function slowStore({ calls, lease }: Case, others: readonly StoreCallStory[]): Finding {
  const slowest = Math.max(0, ...[...calls, ...others].map((call) => latencyOf(call)))
  return {
    cause: 'slow-store',
    because:
      `the store was slow: it took up to ${durationText(slowest)} to answer, and operationTimeout is ` +
      `${durationText(lease.rules.operationTimeout)}`,
  }
}

/** `isProven`: the store answered others. Without their recordings, the store may have been down. */
function cut({ process }: Case, failed: readonly StoreCallStory[], isProven: boolean): Finding {
  const error = failed.find((call) => call.error !== undefined)?.error
  const how = error === undefined ? 'got no answer' : `failed: ${messageOf(error)}`
  const calls = `${failed.length} ${failed.length === 1 ? 'call' : 'calls'} ${how}`
  if (!isProven) {
    return {
      cause: 'cut',
      because: `its process did not reach the store: ${calls}. A recording of another process would tell if the store was down`,
    }
  }
  const because = `its process was cut off from the store: ${calls}, while the store answered others`
  return { cause: 'cut', because, process: process.id }
}

/** The calls of another process in the time of the case, as the clock of the case has them. */
function callsDuring(other: ProcessStory, { process, from, to, lease }: Case): readonly StoreCallStory[] {
  const ahead = process.shift - other.shift
  return callsOf(other, lease.name)
    .map((call) => ({
      ...call,
      sentAt: call.sentAt - ahead,
      ...(call.endedAt !== undefined && { endedAt: call.endedAt - ahead }),
      ...(call.answeredLateAt !== undefined && { answeredLateAt: call.answeredLateAt - ahead }),
    }))
    .filter(({ sentAt, outcome }) => sentAt >= from && sentAt <= to && outcome !== 'pending')
}

function callsOf(process: ProcessStory, name: string): readonly StoreCallStory[] {
  return process.leases.filter((lease) => lease.name === name).flatMap(({ calls }) => calls)
}

function latencyOf({ sentAt, endedAt, outcome, answeredLateAt }: StoreCallStory): number {
  if (answeredLateAt !== undefined) return answeredLateAt - sentAt
  return outcome === 'answered' && endedAt !== undefined ? endedAt - sentAt : 0
}

/** Whether the call failed as it does when a server or its connection goes away, and not by its credentials. */
function isOutage({ outcome, error }: StoreCallStory): boolean {
  return outcome === 'given-up' || (outcome === 'failed' && codeOf(error) !== 'unauthorised')
}

function isOutageOfServer({ error }: StoreCallStory): boolean {
  return /ECONNREFUSED|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|failover|not.?leader|restart/i.test(chainOf(error))
}

function messageOf(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown }
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)
}

function chainOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${chainOf(error.cause)}` : ''
}

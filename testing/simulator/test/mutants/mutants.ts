import { adoptionMutants } from './adoption-mutants.js'
import { answerMutants } from './answer-mutants.js'
import { claimMutants } from './claim-mutants.js'
import { engineMutants } from './engine-mutants.js'
import { heartbeatMutants } from './heartbeat-mutants.js'
import { historyMutants } from './history-mutants.js'
import { leakMutants } from './leak-mutants.js'
import { lifeCycleMutants } from './life-cycle-mutants.js'
import { metadataMutants } from './metadata-mutants.js'
import { misuseMutants } from './misuse-mutants.js'
import type { Mutant } from './mutant.js'
import { objectiveMutants } from './objective-mutants.js'
import { parentMutants } from './parent-mutants.js'
import { preemptionMutants } from './preemption-mutants.js'
import { registerMutants } from './register-mutants.js'
import { releaseMutants } from './release-mutants.js'
import { runMutants } from './run-mutants.js'
import { timeMutants } from './time-mutants.js'
import { userMutants } from './user-mutants.js'

const heartbeats = 'engine/from-held.ts'
const claims = 'engine/from-acquiring.ts'
const memory = 'memory/memory-lease-store.ts'
const lifeCycle = 'life-cycle/life-cycle.ts'
const cas = 'cas/cas-store.ts'
const casDecisions = 'cas/cas-decisions.ts'

/** Two nodes that both believe in a lease, or one that does while the store has granted it to another. */
const overlap = ['exclusion', 'validity-outlives-grant', 'overlapping-works'] as const

/** Each rule of the guarantees, broken, and known bugs of other lease libraries. */
export const mutants: readonly Mutant[] = [
  {
    name: 'validity of a claim counts from the response',
    edits: [
      {
        file: claims,
        find: 'becomeHeld({ op: state.op, grant, holdUntil, hasStray }, sentAt, context)',
        replace: 'becomeHeld({ op: state.op, grant, holdUntil, hasStray }, context.now, context)',
      },
    ],
    caughtBy: { law: 'expiry: validity counts from the sending of a claim, not from its answer' },
  },
  {
    name: 'validity of a heartbeat counts from the response',
    edits: [
      {
        file: heartbeats,
        find: 'becomeHeld(state, call.sentAt, context, early)',
        replace: 'becomeHeld(state, context.now, context, early)',
      },
    ],
    caughtBy: { check: overlap, under: 'fading' },
  },
  {
    name: 'validity has no margin for drift',
    edits: [{ file: 'time/validity.ts', find: 'ttl * (1 - CLOCK_DRIFT) - VALIDITY_MARGIN', replace: 'ttl' }],
    caughtBy: { check: overlap, under: 'pause' },
  },
  {
    name: 'no deadline ends validity',
    edits: [
      { file: heartbeats, find: 'if (context.now >= state.validUntil) return expire(state, context)', replace: '' },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'checkLease looks at the phase only',
    edits: [
      {
        file: 'store-lease/store-lease.ts',
        find: 'if (held === undefined || this.#clock.now() >= held.validUntil) return false',
        replace: 'if (held === undefined) return false',
      },
    ],
    caughtBy: { check: overlap, under: 'pause' },
  },
  {
    name: 'a suspend is not counted',
    edits: [{ file: 'time/system-clock.ts', find: 'return instant + suspended', replace: 'return instant' }],
    caughtBy: { check: overlap, under: 'suspend' },
  },
  {
    name: 'a step of the wall clock counts as a suspend',
    edits: [
      {
        file: 'time/system-clock.ts',
        find: 'const ahead = leadOf(boot, monotonic).least - bootOffset',
        replace: 'const ahead = Math.abs(seen - first)',
      },
      {
        file: 'time/system-clock.ts',
        find: 'let suspended = 0',
        replace: 'let suspended = 0\n  const first = wall() - monotonic()',
      },
    ],
    caughtBy: { law: 'clocks: a step of the wall clock neither ends nor extends a lease' },
  },
  {
    name: 'a stale response is accepted',
    edits: [
      { file: heartbeats, find: "if ('op' in event && !awaits(state, event.op)) return quiet(state)\n", replace: '\n' },
    ],
    caughtBy: { law: 'expiry: a late answer to a heartbeat that was given up does not extend validity' },
  },
  {
    name: 'the late answer to one batch of heartbeats confirms the next',
    edits: [
      {
        file: 'engine/lease-engine.ts',
        find: 'awaits(this.#state, op) && isRenewed(answer)',
        replace: 'isRenewed(answer)',
      },
    ],
    caughtBy: { law: 'expiry: a late answer to a heartbeat that was given up does not extend validity' },
  },
  {
    name: 'release deletes blindly (memory)',
    edits: [
      {
        file: lifeCycle,
        find: "if (lease === undefined || lease.grantId !== grantId || lease.state === 'available') {",
        replace: "if (lease === undefined || lease.state === 'available') {",
      },
    ],
    caughtBy: { check: overlap },
  },
  {
    name: 'release deletes blindly (compare and set)',
    edits: [
      {
        file: casDecisions,
        find: "if (record.grantId !== grantId || record.owner === '') return undefined",
        replace: "if (record.owner === '') return undefined",
      },
    ],
    caughtBy: { check: overlap },
  },
  {
    name: 'takeover by a foreign timestamp',
    edits: [
      {
        file: 'cas/standings.ts',
        find: 'this.#records.see(name, entry.version, now, provenAge(entry, this.#clockError))',
        replace: 'now - ((entry.record as { renewedAt?: number }).renewedAt ?? 0)',
      },
      {
        file: cas,
        find: 'const written = this.#checkWritten(await this.#register.replace(name, record, version, call))',
        replace:
          'record = { ...record, renewedAt: this.#clock.now() } as CasRecord\n    const written = await this.#register.replace(name, record, version, call)',
      },
    ],
    caughtBy: { check: [...overlap, 'no-progress'] },
  },
  {
    name: 'an expired grant is renewed back to life',
    edits: [
      {
        file: heartbeats,
        find: 'if (context.now >= state.validUntil) return',
        replace:
          "if (context.now >= state.validUntil && event.type !== 'renew-answer' && event.type !== 'confirmed') return",
      },
    ],
    caughtBy: { law: 'expiry: a confirmation read after the end of validity does not revive the lease' },
  },
  {
    name: 'tokens start again at 1 after a deletion (memory)',
    edits: [{ file: memory, find: '(last ?? deleted) + 1n', replace: '(last ?? 0n) + 1n' }],
    caughtBy: { check: ['fencing-token'] },
  },
  {
    name: 'tokens start again at 1 after a deletion (compare and set)',
    edits: [
      { file: 'cas/next-token.ts', find: 'toWhole(createdAt ?? 0n, kind)', replace: '0n' },
      { file: 'cas/next-token.ts', find: 'toWhole(time, kind)]', replace: '0n]' },
    ],
    caughtBy: { law: 'fencing: tokens grow over the deletion of a free name' },
  },
  {
    name: 'a token is not larger than the last',
    edits: [{ file: 'cas/next-token.ts', find: '[record.fencingToken + 1n', replace: '[record.fencingToken' }],
    caughtBy: { check: ['fencing-token'] },
  },
  {
    name: 'two heartbeats in flight',
    edits: [
      {
        file: heartbeats,
        find: 'return abortCall(state.call, onFailedHeartbeat(state, error, context))',
        replace: 'return onFailedHeartbeat(state, error, context)',
      },
    ],
    caughtBy: { check: ['two-in-flight', 'leaked-request'] },
  },
  {
    name: 'jitter pushes a heartbeat past the deadline',
    edits: [
      { file: 'settings/interval-strategy.ts', find: '(1 - JITTER * jitter)', replace: '(1 + 40 * jitter)' },
      { file: heartbeats, find: 'const LATEST_HEARTBEAT = 0.95', replace: 'const LATEST_HEARTBEAT = 1.5' },
    ],
    caughtBy: { check: ['needless-loss'], under: 'user-code' },
  },
  {
    name: 'a caller is notified of the loss of an earlier grant',
    edits: [
      {
        file: 'store-lease/store-lease.ts',
        find: 'this.#engine.join(caller, adopted)',
        replace: 'this.#users.keep(options.onLost)\n    this.#engine.join(caller, adopted)',
      },
    ],
    caughtBy: { check: ['callback-early'], under: 'suspend' },
  },
  {
    name: 'a loss is notified after a release was requested',
    edits: [
      {
        file: heartbeats,
        find: "if (event.type === 'release') return leave",
        replace: "if (event.type === 'release' && context.now < state.validUntil) return leave",
      },
    ],
    caughtBy: { check: ['stuck-workload'], under: 'pause' },
  },
  {
    name: 'a loss is not notified',
    edits: [
      {
        file: 'store-lease/grant-users.ts',
        find: '? this.#onLost : [...this.#onLost, run.onLost]',
        replace: '? noCallbacks : [run.onLost]',
      },
    ],
    caughtBy: { check: ['loss-not-notified', 'unasked-release'] },
  },
  {
    name: 'a loss is notified twice',
    edits: [
      {
        file: 'store-lease/grant-users.ts',
        find: 'for (const callback of callbacks) ',
        replace: 'for (const callback of [...callbacks, ...callbacks]) ',
      },
    ],
    caughtBy: { check: ['callback-twice'] },
  },
  {
    name: 'a lost waiter blocks the queue',
    edits: [
      {
        file: lifeCycle,
        find: 'return now < place.keptUntil && this.#rules.isGone',
        replace: 'return this.#rules.isGone',
      },
    ],
    caughtBy: { check: ['no-progress', 'runaway'] },
  },
  {
    name: 'the store expires a grant too early',
    edits: [
      {
        file: lifeCycle,
        find: 'return now + ttl + this.#rules.uncertainty',
        replace: 'return now + 0.95 * ttl + this.#rules.uncertainty',
      },
    ],
    caughtBy: { check: overlap, under: 'suspend' },
  },
  {
    name: 'a record that changes counts as seen unchanged',
    edits: [
      {
        file: 'cas/observations.ts',
        find: 'const isSame = seen?.version === version',
        replace: 'const isSame = seen !== undefined',
      },
    ],
    caughtBy: { check: overlap },
  },
  {
    name: 'a claim that is ours already is answered without a write',
    edits: [
      {
        file: casDecisions,
        find: 'if (!isOurs) {',
        replace: 'if (isOurs) return { granted: true, grant: toGrant(name, record) }\n  if (!isOurs) {',
      },
    ],
    caughtBy: { law: 're-entrancy: a request under the grant id in force restarts the ttl' },
  },
  {
    name: 'of two lost requests, validity counts from the later',
    edits: [
      {
        file: claims,
        find: 'state.changedAt ?? state.firstSentAt',
        replace: 'state.changedAt ?? state.sentAt',
      },
    ],
    caughtBy: { law: 'expiry: validity counts from the first of several claims with an unknown outcome' },
  },
  {
    name: 'a write that lost a race is taken for a grant',
    edits: [
      {
        file: cas,
        find: 'return written === undefined ? undefined : this.#keep',
        replace: 'return written === undefined ? record : this.#keep',
      },
    ],
    caughtBy: { check: overlap },
  },
  {
    name: 'a lost response is treated as not granted, and left in the store',
    edits: [
      {
        file: claims,
        find: "if (isClaiming || isUncertain || state.changedAt !== undefined) {\n    effects.push({ type: 'cleanup', grantId: state.grantId, grant: undefined, hasStray: true })\n  }",
        replace: '',
      },
    ],
    caughtBy: { law: 'limits: the grant of a claim with an unknown outcome is released soon' },
  },
  {
    name: 'a heartbeat has no time limit of its own',
    edits: [
      { file: heartbeats, find: 'Math.min(now + state.attemptTimeout, state.validUntil)', replace: 'state.validUntil' },
    ],
    caughtBy: { law: 'renewal: a heartbeat that hangs is given up in time, and repeated' },
  },
  {
    name: 'one failed heartbeat drops the lease',
    edits: [
      {
        file: heartbeats,
        find: 'return onFailure(state, event, context)',
        replace:
          "if (state.phase === 'held') return expire(state, context)\n      return onFailure(state, event, context)",
      },
    ],
    caughtBy: { law: 'renewal: one heartbeat that fails drops no lease' },
  },
  {
    name: 'a definitive refusal of a heartbeat is retried',
    edits: [
      {
        file: heartbeats,
        find: 'if (outcome.renewed) return onConfirmed(state, context)\n',
        replace:
          'if (outcome.renewed) return onConfirmed(state, context)\n  return onFailedHeartbeat(state, outcome, context)\n',
      },
    ],
    caughtBy: { law: 'break: a holder is notified of a break within one heartbeat' },
  },
  {
    name: 'a renewal of an unknown grant makes it the holder',
    edits: [
      {
        file: lifeCycle,
        find: 'if (lease?.grantId !== grantId || (state',
        replace: 'if (lease === undefined || (state',
      },
    ],
    caughtBy: { law: 'renewal: the same owner and token under another grant id is not renewed' },
  },
  {
    name: 'a heartbeat of an earlier grant with the same grant id is accepted',
    edits: [
      {
        file: lifeCycle,
        find: 'if (lease.fencingToken > fencingToken) return { outcome: GRANTED_AGAIN }',
        replace: '',
      },
    ],
    caughtBy: { law: 'break: a broken grant does not come back with a late duplicate of its claim' },
  },
  {
    name: 'a heartbeat of an earlier grant with the same grant id is accepted (compare and set)',
    edits: [
      {
        file: 'cas/cas-decisions.ts',
        find: 'if (record.fencingToken > largerOf(fencingToken, changes.fencingToken ?? 0n)) return { refusal: GRANTED_AGAIN }',
        replace: '',
      },
    ],
    caughtBy: { law: 'renewal: a grant that expired does not come back with a late duplicate of its claim' },
  },
  {
    name: 'maxHold is not looked at',
    edits: [
      {
        file: heartbeats,
        find: 'Math.min(sentAt + grantValidity(grant, rules), holdUntil)',
        replace: 'sentAt + grantValidity(grant, rules)',
      },
    ],
    caughtBy: { law: 'loss: a lease is held for maxHold at most' },
  },
  {
    name: "the store's time is not in the next token (compare and set)",
    edits: [{ file: 'cas/next-token.ts', find: 'toWhole(time, kind)]', replace: 'toWhole(0n, kind)]' }],
    caughtBy: { law: 'fencing: tokens do not repeat after an older record returns' },
  },
  ...adoptionMutants,
  ...answerMutants,
  ...claimMutants,
  ...engineMutants,
  ...heartbeatMutants,
  ...historyMutants,
  ...leakMutants,
  ...lifeCycleMutants,
  ...metadataMutants,
  ...misuseMutants,
  ...objectiveMutants,
  ...parentMutants,
  ...preemptionMutants,
  ...registerMutants,
  ...releaseMutants,
  ...runMutants,
  ...timeMutants,
  ...userMutants,
]

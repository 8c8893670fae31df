import type { Mutant } from './mutant.js'

/** Each rule of renewal by hand and of preemption, broken. */
export const preemptionMutants: readonly Mutant[] = [
  {
    name: 'a challenger breaks a lease with a period that is too short for a holder that hears nothing',
    edits: [
      {
        file: 'engine/store-caller.ts',
        find: 'store.break(name, { grantId: request.grantId }, call)',
        replace: 'store.break(name, { grantId: request.grantId, period: 0 }, call)',
      },
    ],
    caughtBy: { check: ['exclusion', 'validity-outlives-grant', 'overlapping-works'] },
  },
  {
    name: 'a challenger breaks any grant, not only the one that it decided on',
    edits: [
      {
        file: 'engine/store-caller.ts',
        find: 'store.break(name, { grantId: request.grantId }, call)',
        replace: 'store.break(name, {}, call)',
      },
    ],
    caughtBy: { check: ['wrong-reason', 'needless-loss'] },
  },
  {
    name: 'a store breaks the grant of a successor',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'grantId !== undefined && lease.grantId !== grantId',
        replace: 'grantId === undefined && lease.grantId === ""',
      },
    ],
    caughtBy: {
      law: 'break: of one grant rejects with a LeaseConflictError where another one follows, and changes nothing',
    },
  },
  {
    name: 'a challenger is asked at every refusal',
    edits: [
      {
        file: 'engine/preemption.ts',
        find: 'caller.judged?.grantId !== holder.grantId',
        replace: 'true',
      },
    ],
    caughtBy: { law: 'break: a challenger whose condition is false breaks nothing' },
  },
  {
    name: 'a lease with the manual strategy sends heartbeats',
    edits: [
      { file: 'engine/from-held.ts', find: 'if (context.rules.manual) return {', replace: 'if (false) return {' },
    ],
    caughtBy: {
      law: 'renewal: a lease with the manual strategy is not renewed by itself, and its validity ends as expired',
    },
  },
  {
    name: 'a renewal by hand that failed resolves true',
    edits: [{ file: 'store-lease/store-lease.ts', find: '?.reject(effect.cause)', replace: '?.resolve(true)' }],
    caughtBy: { law: 'renewal: a renewal by hand that hangs rejects, and the lease stays held while it is valid' },
  },
  {
    name: 'a renewal by hand does not end with the grant',
    edits: [
      {
        file: 'store-lease/store-lease.ts',
        find: "this.#emitter?.emit('lost', lost)\n    this.#takeRenewal()?.resolve(false)",
        replace: "this.#emitter?.emit('lost', lost)",
      },
      {
        file: 'store-lease/store-lease.ts',
        find: 'this.#updates?.end()\n    this.#takeRenewal()?.resolve(false)',
        replace: 'this.#updates?.end()',
      },
    ],
    caughtBy: { check: ['stuck-call'] },
  },
]

import type { Mutant } from './mutant.js'

const userCode = 'user-code/guarded-calls.ts'
const heartbeatPlan = 'settings/planned-heartbeat.ts'
const answers = 'engine/store-answers.ts'

/** A strategy is asked for its plan. */
const planned = '    plan = strategy.plan(timeouts, jitter)\n  } catch (error) {\n    reporter.report(error)\n  }'

/** Each protection against the code of users and against stores that misbehave, taken away. */
export const misuseMutants: readonly Mutant[] = [
  {
    name: 'a strategy that throws does so out of a timer',
    edits: [
      {
        file: heartbeatPlan,
        find: planned,
        replace: '    plan = strategy.plan(timeouts, jitter)\n  } finally {\n  }',
      },
    ],
    caughtBy: { check: ['uncaught-error'], under: 'user-code' },
  },
  {
    name: 'a strategy that throws keeps the timers of other leases from being armed',
    edits: [
      {
        file: heartbeatPlan,
        find: planned,
        replace: planned.replace('report(error)', 'report(error)\n    throw error'),
      },
      {
        file: 'engine/lease-group.ts',
        find: 'for (const lease of unarmed ?? []) lease.arm(now)',
        replace: 'try {\n      for (const lease of unarmed ?? []) lease.arm(now)\n    } catch {}',
      },
    ],
    caughtBy: { check: ['loss-not-notified', 'needless-loss', 'uncaught-error'], under: 'user-code' },
  },
  {
    name: 'an error of a strategy is not reported',
    edits: [
      {
        file: heartbeatPlan,
        find: planned,
        replace: planned.replace('reporter.report(error)', 'void error'),
      },
    ],
    caughtBy: { check: ['unreported-error'], under: 'user-code' },
  },
  {
    name: 'a plan that is none counts',
    edits: [
      {
        file: heartbeatPlan,
        find: 'if (isDuration(after) && isDuration(attemptTimeout)) return { after, attemptTimeout }',
        replace: 'if (Date.now() > 0) return { after, attemptTimeout } as HeartbeatPlan',
      },
    ],
    caughtBy: { check: ['needless-loss'], under: 'user-code' },
  },
  {
    name: 'a promise of a callback that rejects is not listened to',
    edits: [
      {
        file: userCode,
        find: 'if (isThenable(result)) Promise.resolve(result).then(undefined, report)',
        replace: 'void result',
      },
    ],
    caughtBy: { check: ['uncaught-error'], under: 'user-code' },
  },
  {
    name: 'a listener that throws keeps the others from being notified',
    edits: [
      {
        file: 'store-lease/lease-events.ts',
        find: 'guarded = (...args) => callGuarded(() => listener(...(args as LeaseEvents[E])), report)',
        replace: 'guarded = (...args) => void listener(...(args as LeaseEvents[E]))',
      },
    ],
    caughtBy: { check: ['uncaught-error'], under: 'user-code' },
  },
  {
    name: 'answers of the store are not checked',
    edits: [
      {
        file: answers,
        find: "export function faultOfAnswer(method: StoreRequest['method'], answer: unknown): string | undefined {\n",
        replace:
          "export function faultOfAnswer(method: StoreRequest['method'], answer: unknown): string | undefined {\n  if (answer !== 0) return undefined\n",
      },
    ],
    caughtBy: { check: ['uncaught-error'], under: 'nonsense' },
  },
  {
    name: 'any truthy answer counts as a confirmed heartbeat',
    edits: [
      {
        file: answers,
        find: "  if (renewed !== false) return misfit('renewed', 'true or false', renewed)\n",
        replace:
          "  if (renewed) return undefined\n  if (renewed !== false) return misfit('renewed', 'true or false', renewed)\n",
      },
    ],
    caughtBy: { check: ['exclusion', 'validity-outlives-grant'], under: 'nonsense' },
  },
  {
    name: 'a token that is no bigint counts',
    edits: [
      {
        file: answers,
        find: "  if (typeof fencingToken !== 'bigint') return misfit('grant.fencingToken', 'a bigint', fencingToken)\n",
        replace: '',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant', 'granted-but-not-held', 'revived'], under: 'nonsense' },
  },
  {
    name: 'a failure that cannot be printed is printed',
    edits: [
      {
        file: 'errors/shown-value.ts',
        find: '  } catch {\n    return',
        replace: '  } catch (error) {\n    if (error instanceof TypeError) throw error\n    return',
      },
    ],
    caughtBy: { check: ['uncaught-error'], under: 'nonsense' },
  },
]

import { describe, it } from 'node:test'
import { describeLaws, type LawRunner } from './laws/families.js'
import { checkGuardLaw, guardLaws } from './laws/guard-laws.js'
import type { GuardSubject } from './laws/guard-subject.js'
import type { GuardLaw } from './laws/guard-trial.js'
import { checkLeaseLaw, leaseLaws } from './laws/lease-laws.js'
import type { LeaseSubject } from './laws/lease-subject.js'
import type { LeaseLaw } from './laws/lease-trial.js'
import { checkStoreLaw, storeLaws } from './laws/store-laws.js'
import type { StoreSubject } from './laws/store-subject.js'
import type { StoreLaw } from './laws/store-trial.js'

const runner: LawRunner = {
  group: (title, sideBySide, tests) => void describe(title, { concurrency: sideBySide }, tests),
  test: (title, longest, check) => {
    void it(title, longest === undefined ? {} : { timeout: longest }, async (test) => {
      const outcome = await check()
      if (!outcome.kept) test.skip(outcome.skipped)
    })
  },
}

/** A test of `node:test` for each law of stores. Laws that the store cannot run are skipped, with the reason. */
export function describeStoreLaws(subject: StoreSubject, laws: readonly StoreLaw[] = storeLaws): void {
  describeLaws(runner, laws, subject, checkStoreLaw)
}

/** A test of `node:test` for each law of leases. Laws that the leases cannot run are skipped, with the reason. */
export function describeLeaseLaws(subject: LeaseSubject, laws: readonly LeaseLaw[] = leaseLaws): void {
  describeLaws(runner, laws, subject, checkLeaseLaw)
}

/** A test of `node:test` for each law of fencing guards. Laws that the guard cannot run are skipped, with the reason. */
export function describeGuardLaws(subject: GuardSubject, laws: readonly GuardLaw[] = guardLaws): void {
  describeLaws(runner, laws, { name: subject.name, time: 'real' }, (law) => checkGuardLaw(law, subject))
}

import { describe, it } from 'vitest'
import { describersFor } from './laws/families.js'

const describers = describersFor({
  group: (title, sideBySide, tests) => void (sideBySide ? describe.concurrent : describe)(title, tests),
  test: (title, limit, check) => it(title, limit, ({ skip }) => check(skip)),
})

/** A vitest test for each law of stores. Laws that the store cannot run are skipped, with the reason. */
export const describeStoreLaws = describers.stores

/** A vitest test for each law of leases. Laws that the leases cannot run are skipped, with the reason. */
export const describeLeaseLaws = describers.leases

/** A vitest test for each law of fencing guards. Laws that the guard cannot run are skipped, with the reason. */
export const describeGuardLaws = describers.guards

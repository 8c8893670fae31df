import type { UnitMutant } from '@leasehold/testing'

const test = 'test/semaphore/semaphore.test.ts'

/** One-line changes that break a rule of slots, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'slots: an entry that came after the abort is kept',
    file: 'src/slots/entered-lease.ts',
    find: 'await this.leave(entry)\n          return',
    replace: 'return',
    test,
    name: 'is free again if its only caller gives up at any instant of its grant',
  },
  {
    title: 'slots: only the first caller is told of the loss',
    file: 'src/slots/entered-lease.ts',
    find: 'for (const onLost of waiting.callbacks) void',
    replace: 'for (const onLost of waiting.callbacks.slice(0, 1)) void',
    test,
    name: 'tells all callers that share it of its loss',
  },
  {
    title: 'slots: a waiter tries again where that has no sense',
    file: 'src/slots/slot-search.ts',
    find: 'if (!isTransient(failure)) throw failure',
    replace: '',
    test,
    name: 'is refused at once where the slots refuse it',
  },
  {
    title: 'turnstile: a semaphore on the name of a read-write lease',
    file: 'src/slots/turnstile-record.ts',
    find: 'checkRecipe(recipes[kind], left, details)',
    replace: '',
    test,
    name: 'is not shared by a semaphore and a read-write lease',
  },
  {
    title: 'turnstile: the number is not written at the first use',
    file: 'src/slots/turnstile.ts',
    find: 'if (isOther || lease.previous?.[this.kind] === undefined) await',
    replace: 'if (isOther) await',
    test,
    name: 'is written before the first slot is entered',
  },
  {
    title: 'turnstile: a number of any size is taken from the record',
    file: 'src/slots/turnstile-record.ts',
    find: 'if (number === undefined || number <= MOST_SLOTS) return number',
    replace: 'if (number !== -1) return number',
    test,
    name: 'in a record whose slots was changed to 999999999999999',
  },
  {
    title: 'turnstile: another number is not reported',
    file: 'src/slots/turnstile.ts',
    find: 'if (isOther) this.#warn(found.count)',
    replace: '',
    test,
    name: 'is reported once as a warning',
  },
  {
    title: 'resize: a waiter carries out one that has ended',
    file: 'src/slots/resize-wish.ts',
    find: 'if (!isLocked(record)) return undefined',
    replace: 'if (record === undefined) return undefined',
    test,
    name: 'that has ended is not carried out by a waiter',
  },
  {
    title: 'resize: a waiter carries out any number',
    file: 'src/slots/resize-wish.ts',
    find: 'const count = countFrom(record.metadata?.permits)',
    replace: 'const count = Number(record.metadata?.permits)',
    test,
    name: 'to 0 in its record is ignored by waiters',
  },
  {
    title: 'resize: it does not begin again after the loss of its place',
    file: 'src/semaphore/resizing.ts',
    find: 'if (failure !== undefined && !(failure instanceof LeaseLostError))',
    replace: 'if (failure !== undefined)',
    test,
    name: 'goes on after it was cut off, and lost its place',
  },
]

import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'epoch: each process that finds no log begins one',
    file: 'src/lease-database.ts',
    find: 'checkEpochs(this.#folder, EPOCH_FILE)',
    replace: "epochFor(this.#folder, EPOCH_FILE, randomBytes(9).toString('base64url'), 0n)",
    test: 'test/epoch-order.test.ts',
    name: 'begin one epoch, which is not ahead of the wall clock',
  },
  {
    title: 'epoch: an epoch of another log is used',
    file: 'src/fencing-epoch.ts',
    find: 'begun.findLast((epoch) => epoch.log === log)',
    replace: 'begun.at(-1)',
    test: 'test/fencing-tokens.test.ts',
    name: 'also if the writers of two logs write the same epoch',
  },
  {
    title: 'epoch: the writers of a log begin one each',
    file: 'src/fencing-epoch.ts',
    find: 'own !== undefined && token < endOfTokens(own.epoch)',
    replace: 'own !== undefined && own === begun.at(-1) && own.epoch >= now()',
    test: 'test/fencing-tokens.test.ts',
    name: 'is shared by the writers of its log',
  },
  {
    title: 'epoch: not on the disk before the first grant',
    file: 'src/fencing-epoch.ts',
    find: 'folder.flush(name)',
    replace: 'folder.flush()',
    test: 'test/epoch-order.test.ts',
    name: 'before the first grant of the process that began it',
  },
  {
    title: 'epoch: the epoch of another process need not be on the disk',
    file: 'src/fencing-epoch.ts',
    find: '      folder.flush(name)\n',
    replace: '',
    test: 'test/epoch-order.test.ts',
    name: 'before the first grant of the process after the one that began it',
  },
  {
    title: 'guard: decides on the tokens as they were before it waited for the lock',
    file: 'src/local-guard.ts',
    find: '      this.#tokens.refresh()\n      const seen',
    replace: '      const seen',
    test: 'test/guard-order.test.ts',
    name: 'decides on the tokens that are recorded meanwhile',
  },
  {
    title: 'guard: the largest token does not survive a power failure',
    file: 'src/local-guard.ts',
    find: 'durable: true',
    replace: 'durable: false',
    test: 'test/guard-order.test.ts',
    name: 'has the token on the disk before the action runs',
  },
  {
    title: 'file lock: an action runs under the lock of a file that was replaced during the wait',
    file: 'src/file-lock.ts',
    find: 'place !== undefined && identityOf(place) === identity',
    replace: 'place !== undefined',
    test: 'test/guard-order.test.ts',
    name: 'locks the file that replaced the one it waited for',
  },
]

import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'thread: a grant whose caller has given up is renewed for ever',
    file: 'src/thread-link.ts',
    find: 'else this.#refuse(reply)',
    replace: '',
    test: 'test/crossing-grants.test.ts',
    name: 'is released if it came after a wait',
  },
  {
    title: 'thread: the loss of a grant that was refused is never acknowledged',
    file: 'src/hosted-lease.ts',
    find: 'else this.acknowledged(number)',
    replace: '',
    test: 'test/hosted-lease.test.ts',
    name: 'ends no process for a grant that was lost before its user refused it',
  },
  {
    title: 'thread: a release acknowledges the loss under which work goes on',
    file: 'src/hosted-lease.ts',
    find: 'if (this.#holds(this.#number)) this.#giveBack()',
    replace: 'this.unwanted(this.#number)',
    test: 'test/hosted-lease.test.ts',
    name: 'waits for the work under a self-fenced grant that was lost',
  },
  {
    title: 'thread: a lease that its user forgot is renewed for ever',
    file: 'src/thread-host.ts',
    find: '?.abandon()\n          .catch(() => {})',
    replace: '',
    test: 'test/thread-host.test.ts',
    name: 'frees the grant of a lease that its user forgot',
  },
  {
    title: 'thread: a store that opens after the time limit stays open',
    file: 'src/thread-host.ts',
    find: 'this.#opening.get(id) !== request',
    replace: 'this.#isStopping',
    test: 'test/thread-host.test.ts',
    name: 'closes a store that opens when it is not wanted any more',
  },
  {
    title: 'thread: a thread that hangs is waited for without end',
    file: 'src/thread-link.ts',
    find: 'systemClock.schedule(LONGEST_STOP, () => void this.#worker.terminate())',
    replace: 'systemClock.schedule(LONGEST_STOP, () => {})',
    test: 'test/heartbeat-thread.test.ts',
    name: 'or hangs, is ended when it is closed',
  },
  {
    title: 'thread: a dead thread leaves valid slots',
    file: 'src/thread-link.ts',
    find: 'this.slots.endAll()',
    replace: '',
    test: 'test/heartbeat-thread.test.ts',
    name: '(killed) leaves no other lease valid',
  },
  {
    title: 'thread: a loss does not end the slot',
    file: 'src/hosted-lease.ts',
    find: "case 'lost':\n        this.#host.slots.end(this.#slot)",
    replace: "case 'lost':",
    test: 'test/hosted-lease.test.ts',
    name: 'is not valid for its user from the instant of its loss',
  },
]

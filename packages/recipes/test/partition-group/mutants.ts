import type { RecipeMutant } from '../support/mutants.js'

/** Deliberate bugs of `PartitionGroup`. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a partition is released before the work on it has ended',
    edits: [
      {
        file: 'partition-group/assignment.ts',
        find: 'if (await endsWithin(clock, limit, working)) return',
        replace: 'return',
      },
    ],
    caughtBy: { law: 'the lease is held until the work has ended' },
  },
  {
    name: 'work that does not end is waited for without a limit',
    edits: [
      {
        file: 'partition-group/assignment.ts',
        find: 'if (await endsWithin(clock, limit, working)) return',
        replace: 'await working\n    return',
      },
    ],
    caughtBy: { law: 'work that does not end is left behind after stopTimeout' },
  },
  {
    name: 'the work is not notified of a loss',
    edits: [
      {
        file: 'partition-group/assignment.ts',
        find: "aborts.add(signal, () => this.#end('lost', signal.reason))",
        replace: 'aborts.add(signal, () => {})',
      },
    ],
    caughtBy: { law: 'the partitions of a worker that died are taken over, with the last position that it saved' },
  },
  {
    name: 'the position is put down by every new owner',
    edits: [
      {
        file: 'partition-group/assignment.ts',
        find: 'acquire({ wait: Number.POSITIVE_INFINITY, signal, keepAlive, onLost })',
        replace: "acquire({ wait: Number.POSITIVE_INFINITY, signal, keepAlive, onLost, metadata: { position: '0' } })",
      },
      { file: 'partition-group/assignment.ts', find: 'position: lease.previous?.position', replace: "position: '0'" },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a member of the group whose lease has expired still counts',
    edits: [
      {
        file: 'places.ts',
        find: 'isFree: !isLocked(record)',
        replace: "isFree: record.state === 'available'",
      },
    ],
    caughtBy: { law: 'the partitions of a worker that died are taken over, with the last position that it saved' },
  },
  {
    name: 'a member gives up one partition more than it must',
    edits: [
      {
        file: 'partition-group/balance.ts',
        find: 'const kept = new Set(own?.held)',
        replace: 'const kept = new Set(own?.held.slice(1))',
      },
    ],
    caughtBy: { law: 'workers that start together share the partitions fairly, and nothing moves afterwards' },
  },
  {
    name: 'a member that has too many partitions keeps them',
    edits: [
      {
        file: 'partition-group/balance.ts',
        find: 'giveUp: self.share.held.filter((partition) => !kept.has(partition))',
        replace: 'giveUp: []',
      },
    ],
    caughtBy: { law: 'a newcomer gets its share, with as few moves as possible' },
  },
  {
    name: 'a worker takes the number of partitions of the others to be its own',
    edits: [
      {
        file: 'partition-group/group-member.ts',
        find: "const number = /^[1-9]\\d{0,8}$/.test(metadata.partitions ?? '') ? Number(metadata.partitions) : otherwise",
        replace: 'const number = otherwise',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a drained partition is not released',
    edits: [
      { file: 'partition-group/assignment.ts', find: 'await requests.run(() => this.#lease.release())', replace: '' },
    ],
    caughtBy: { law: 'a worker that stops hands everything over at once, with its positions' },
  },
  {
    name: 'a worker that was asked to stop keeps its claims',
    edits: [
      {
        file: 'partition-group/partition-group.ts',
        find: 'for (const assignment of this.#assignments.values()) assignment.giveUp(timeout)',
        replace:
          "for (const assignment of this.#assignments.values()) if (assignment.state === 'held') assignment.giveUp(timeout)",
      },
    ],
    caughtBy: { check: ['stuck-workload', 'leaked-timer', 'leaked-request', 'leaked-listener'] },
  },
  {
    name: 'a lost partition is worked on until its next round',
    edits: [
      {
        file: 'partition-group/assignment.ts',
        find: 'position: lease.previous?.position,',
        replace: 'position: lease.previous?.position, checkLease: () => !signal.aborted,',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
]

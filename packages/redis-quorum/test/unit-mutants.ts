import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'a server is repaired from fewer than a majority of records',
    file: 'src/heartbeats.ts',
    find: 'if (records.length < majority) return',
    replace: 'if (records.length < 1) return',
    test: 'test/repairs.test.ts',
    name: 'waits until a majority can be read',
  },
  {
    title: 'a token is raised on one server, and not on a majority',
    file: 'src/heartbeats.ts',
    find: "const outcome = await this.#beatOne(raised, 'raise', ask, call)",
    replace: `const outcome = await this.#beatOne(
      raised,
      'raise',
      (member, own, place) => (place > 0 ? member.renew(grant, own) : ask(member, own, place)),
      call,
    )`,
    test: 'test/tokens.test.ts',
    name: 'is below all later ones, whichever majorities take part',
  },
  {
    title: 'a server that has lost a grant is restored without its raised token',
    file: 'src/heartbeats.ts',
    find: "await this.#beatOne(raised, 'raise'",
    replace: "await this.#beatOne(grant, 'raise'",
    test: 'test/tokens.test.ts',
    name: 'is that of a server that had lost the grant',
  },
  {
    title: 'a raised token is forgotten by the store',
    file: 'src/heartbeats.ts',
    find: 'if (outcome.renewed) this.#tokens.note(raised.fencingToken)',
    replace: '',
    test: 'test/tokens.test.ts',
    name: 'is remembered by the store that raised it',
  },
  {
    title: 'a raise makes the metadata of a server that missed an update the latest',
    file: '../redis/src/script/operations.ts',
    find: 'unchanged(record, math.min(record.token, tonumber(before)))',
    replace: "redis.call('HGET', record.key, 'metadata')",
    test: 'test/metadata.test.ts',
    name: 'is the latest one, if a server has missed an update and then takes part in a raise',
  },
]

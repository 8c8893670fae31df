import type { UnitMutant } from '@leasehold/testing'

const FENCED = 'src/state/fenced-state.ts'
const POSTGRES = 'src/state/postgres-state.ts'
const REDIS = 'src/state/redis-state.ts'
const FILE = 'src/state/file-state.ts'
const TEXT = 'src/state/entity-text.ts'

const FILE_LAWS = 'test/states/file-laws.test.ts'
const REDIS_LAWS = 'test/states/redis-laws.test.ts'
const POSTGRES_LAWS = 'test/states/postgres-laws.test.ts'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'file: load does not raise the fence',
    file: FILE,
    find: 'this.#guard.transact(id, token, () => textIn(path))',
    replace: 'textIn(path)',
    test: FILE_LAWS,
    name: 'also if the entity was never saved',
  },
  {
    title: 'file: save sends a larger token',
    file: FILE,
    find: 'this.#guard.transact(id, token, () => {\n',
    replace: 'this.#guard.transact(id, token + 9n, () => {\n',
    test: FILE_LAWS,
    name: 'after a load by a larger token',
  },
  {
    title: 'file: save writes the file in place',
    file: FILE,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    find: '`${path}.part`',
    replace: 'path',
    test: 'test/states/file-state.test.ts',
    name: 'a process that is killed within a save',
  },
  {
    title: 'file: names tell small letters from capital ones',
    file: FILE,
    find: '/[a-z\\d_=@+-]/',
    replace: '/[a-zA-Z\\d_=@+-]/',
    test: 'test/states/file-state.test.ts',
    name: 'have names that differ where the file system does not tell',
  },
  {
    title: 'file: ids are names of files as they are',
    file: FILE,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    find: '`${encodeLeaseName(id, alphabet)}.json`',
    replace: "`$" + "{id.replaceAll('/', '%2f').slice(0, 200)}.json`",
    test: FILE_LAWS,
    name: 'every id is another entity',
  },
  {
    title: 'file: all regions share a folder',
    file: FILE,
    find: 'region === undefined ? UNNAMED : encodeLeaseName(region, alphabet)',
    replace: 'UNNAMED',
    test: FILE_LAWS,
    name: 'regions are apart',
  },
  {
    title: 'redis: load does not raise the fence',
    file: REDIS,
    find: "this.#guard.transact(this.#keyOf(id), token, ['GET'], { signal })",
    replace: "this.#guard.transact(this.#keyOf(id), 0n, ['GET'], { signal }).catch(() => token && null)",
    test: REDIS_LAWS,
    name: 'also if the entity was never saved',
  },
  {
    title: 'redis: save sends a larger token',
    file: REDIS,
    find: 'this.#guard.write(this.#keyOf(id), token, text',
    replace: 'this.#guard.write(this.#keyOf(id), token + 9n, text',
    test: REDIS_LAWS,
    name: 'after a load by a larger token',
  },
  {
    title: 'redis: the name of the region is not encoded',
    file: REDIS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    find: '${encodeLeaseName(this.#region, alphabet)}:',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    replace: '${this.#region}',
    test: REDIS_LAWS,
    name: 'regions are apart',
  },
  {
    title: 'redis: ids are keys as they are',
    file: REDIS,
    find: "!'{}:\"\\'\\\\'.includes(character)",
    replace: 'true',
    test: REDIS_LAWS,
    name: 'every id is another entity',
  },
  {
    title: 'postgres: load does not raise the fence',
    file: POSTGRES,
    find: '    await this.#under(key, token, call)\n',
    replace: '',
    test: POSTGRES_LAWS,
    name: 'also if the entity was never saved',
  },
  {
    title: 'postgres: load reads before it raises the fence',
    file: POSTGRES,
    find: '    await this.#under(key, token, call)\n    return await this.#reads.run(key, call)',
    replace: '    const read = await this.#reads.run(key, call)\n    await this.#under(key, token, call)\n    return read',
    test: 'test/states/postgres-state.test.ts',
    name: 'a load reads what a save before its fence has written',
  },
  {
    title: 'postgres: save does not send the fence',
    file: POSTGRES,
    find: '...sorted.map(({ fence }) => fence), ',
    replace: '',
    test: POSTGRES_LAWS,
    name: 'after a load by a larger token',
  },
  {
    title: 'postgres: one refused save fails its transaction',
    file: POSTGRES,
    find: '/^(22|54|LH)/',
    replace: '/^(22|54)/',
    test: POSTGRES_LAWS,
    name: 'one refused save fails no other',
  },
  {
    title: 'postgres: an entity can be twice in a transaction',
    file: POSTGRES,
    find: ', subjectOf: ({ resource }) => resource',
    replace: '',
    test: 'test/states/postgres-state.test.ts',
    name: 'saves of one entity at the same time',
  },
  {
    title: 'postgres: a conflict with another transaction is not repeated',
    file: POSTGRES,
    find: "new Set(['40001', '40P01'])",
    replace: 'new Set()',
    test: 'test/states/postgres-state.test.ts',
    name: 'of saves at the same time, the one with the largest token stays',
  },
  {
    title: 'postgres: each save has a transaction of its own',
    file: POSTGRES,
    find: 'const LARGEST = 64',
    replace: 'const LARGEST = 1',
    test: 'test/states/postgres-state.test.ts',
    name: 'saves many entities in few transactions',
  },
  {
    title: 'postgres: the fences of regions are not apart',
    file: POSTGRES,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    find: '`entity ${JSON.stringify(region)} ${id}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
    replace: '`entity ${id}`',
    test: 'test/states/postgres-state.test.ts',
    name: 'two regions have fences of their own',
  },
  {
    title: 'an unknown outcome is a refusal',
    file: FENCED,
    find: 'error instanceof LeaseLostError',
    replace: 'error instanceof LeaseLostError || call.aborted',
    test: 'test/states/redis-state.test.ts',
    name: 'ends a call to a server that hangs or is down',
  },
  {
    title: 'a save has no time limit',
    file: FENCED,
    find: 'inTime(clock, timeout, untilAborted(work(call), call), late)',
    replace: 'inTime(clock, timeout * 1_000, untilAborted(work(call), call), late)',
    test: 'test/states/redis-state.test.ts',
    name: 'ends a call to a server that hangs or is down',
  },
  {
    title: 'the size counts characters',
    file: TEXT,
    find: 'Buffer.byteLength(text)',
    replace: 'text.length',
    test: FILE_LAWS,
    name: 'an entity above the size limit',
  },
  {
    title: 'the id is not checked',
    file: FENCED,
    find: "    checkIdentifier('id of an entity', id)\n",
    replace: '',
    test: REDIS_LAWS,
    name: 'an invalid id',
  },
  {
    title: 'a text of another program is an entity',
    file: TEXT,
    find: "snapshot !== undefined && typeof version === 'number' && Array.isArray(handled)",
    replace: "typeof version === 'number' && Array.isArray(handled)",
    test: 'test/states/file-state.test.ts',
    name: 'for a file of another program',
  },
]

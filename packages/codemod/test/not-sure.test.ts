import { relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { change, textsIn, Workspace } from './support/workspace.js'

const workspace = new Workspace()
let count = 0

/** Changes files, and returns what is listed as `file:line: sentence`, with the texts before and after. */
function changing(files: Readonly<Record<string, string>>) {
  count += 1
  const folder = workspace.files(`case-${count}`, files)
  const { leftovers } = change(folder)
  const listed = leftovers.map(({ file, line, sentence }) => `${relative(folder, file)}:${line}: ${sentence}`)
  return { listed, after: textsIn(folder) }
}

const instance = `import { Redis } from 'ioredis'
import Redlock from 'redlock'
const redlock = new Redlock([new Redis()])
`

/** Code after an instance of redlock, its line of doubt, and a part of the sentence. */
const doubts: [what: string, code: string, line: number, sentence: RegExp][] = [
  [
    'extend',
    `export async function f(work: () => Promise<void>) {
  let lock = await redlock.acquire(['a'], 5000)
  try {
    await work()
    lock = await lock.extend(5000)
  } finally {
    await lock.release()
  }
}`,
    8,
    /extend is not needed: delete this call/,
  ],
  [
    'the value of a lock',
    `export async function f(save: (value: string) => Promise<void>) {
  const lock = await redlock.acquire(['a'], 5000)
  try {
    await save(lock.value)
  } finally {
    await lock.release()
  }
}`,
    7,
    /use its fencingToken/,
  ],
  [
    'a lock that expires on purpose',
    `export const once = async (id: string) => {
  const lock = await redlock.acquire([id], 60_000)
  return lock
}`,
    5,
    /renewed until it is released/,
  ],
  [
    'a release that a failure skips',
    `export async function f(work: () => Promise<void>) {
  const lock = await redlock.acquire(['a'], 5000)
  await work()
  await lock.release()
}`,
    5,
    /finally/,
  ],
  [
    'work between the lock and its try block',
    `export async function f(work: () => Promise<void>) {
  const lock = await redlock.acquire(['a'], 5000)
  await work()
  try {
    await work()
  } finally {
    await lock.release()
  }
}`,
    5,
    /finally/,
  ],
  [
    'a release after something that may throw',
    `export async function f(work: () => Promise<void>) {
  const lock = await redlock.acquire(['a'], 5000)
  try {
    await work()
  } finally {
    await work()
    await lock.release()
  }
}`,
    5,
    /finally/,
  ],
  [
    'a list of resources',
    `export const f = (ids: string[]) => redlock.using(ids, 5000, async () => 1)`,
    4,
    /as an array/,
  ],
  ['a spread list', `export const f = (ids: string[]) => redlock.using([...ids], 5000, async () => 1)`, 4, /AllOf/],
  [
    'a routine from elsewhere',
    `export const f = (work: () => Promise<void>) => redlock.using(['a'], 5000, work)`,
    4,
    /signal.reason/,
  ],
  [
    'settings from elsewhere',
    `export const f = (o: { retryCount: number }) => redlock.using(['a'], 5000, o, async () => 1)`,
    4,
    /retryCount and retryDelay as numbers/,
  ],
  ['a ttl that is too short', `export const f = () => redlock.using(['a'], 50, async () => 1)`, 4, /100 ms/],
  [
    'a comment in the arguments',
    `export const f = () => redlock.using(['a'], /* ms */ 5000, async () => 1)`,
    4,
    /comment/,
  ],
  ['an instance that is handed on', `export const all = [redlock]`, 4, /does not follow it/],
  ['quit', `export const end = () => redlock.quit()`, 4, /close\(\)/],
  [
    'a listener that counts',
    `let n = 0\nredlock.on('error', () => { n += 1 })\nexport const f = () => n`,
    5,
    /more than log/,
  ],
  [
    'a promise chain',
    `export const f = () => redlock.acquire(['a'], 5000).then((lock) => lock.release())`,
    4,
    /createLease/,
  ],
  [
    'an error by its name',
    `export const f = () => redlock.using(['a'], 5000, async () => 1).catch((e) => e.name === 'ExecutionError')`,
    4,
    /LeaseHeldError/,
  ],
  [
    'a name that is taken',
    `const createLease = 1\nexport const f = () => redlock.using(['a'], 5000, async () => createLease)`,
    3,
    /taken/,
  ],
]

describe('code that is not sure stays as it is, byte for byte', () => {
  test.each(doubts)('%s', (_, code, line, sentence) => {
    const text = `${instance}${code}\n`
    const { listed, after } = changing({ 'code.ts': text })
    expect(after).toEqual({ 'code.ts': text })
    expect(listed.join('\n')).toMatch(sentence)
    expect(listed.map((entry) => entry.split(':').slice(0, 2).join(':'))).toContain(`code.ts:${line}`)
  })

  test('an error of redlock that is caught', () => {
    const text = `import { Redis } from 'ioredis'
import Redlock, { ExecutionError } from 'redlock'
const redlock = new Redlock([new Redis()])
export async function f() {
  try {
    return await redlock.using(['a'], 5000, async () => 1)
  } catch (error) {
    if (error instanceof ExecutionError) return 0
    throw error
  }
}
`
    const { listed, after } = changing({ 'code.ts': text })
    expect(after).toEqual({ 'code.ts': text })
    expect(listed).toEqual([expect.stringMatching(/^code\.ts:8: ExecutionError is redlock's: .*LeaseHeldError/)])
  })

  test.each([
    ['several servers', 'new Redlock([a, b, c])', /redlock-quorum|redis-quorum/],
    ['a list of clients', 'new Redlock(clients)', /not listed/],
    ['scripts', 'new Redlock([a], {}, {})', /scripts/],
  ])('an instance with %s', (_, creation, sentence) => {
    const text = `import Redlock from 'redlock'
import { a, b, c, clients } from './clients.js'
export const redlock = ${creation}
export const f = () => redlock.using(['a'], 5000, async () => 1)
`
    const { listed, after } = changing({ 'code.ts': text })
    expect(after).toEqual({ 'code.ts': text })
    expect(listed).toEqual([expect.stringMatching(sentence)])
  })

  test('an old client of node-redis', () => {
    const text = `const redis = require('redis')
const Redlock = require('redlock')
const redlock = new Redlock([redis.createClient()], { retryCount: 0 })
exports.f = () => redlock.using(['a'], 5000, async () => 1)
`
    const { listed, after } = changing({ 'code.js': text })
    expect(after).toEqual({ 'code.js': text })
    expect(listed).toEqual([expect.stringMatching(/^code\.js:3: .*node-redis 5/)])
  })
})

describe('code that shares an instance is changed together', () => {
  const lock = { 'lock.ts': `${instance}export { redlock }\n` }
  const sure = "import { redlock } from './lock.js'\nexport const f = () => redlock.using(['a'], 5000, async () => 1)\n"

  test('a doubt in one file keeps the others', () => {
    const unsure = "import { redlock } from './lock.js'\nexport const g = () => redlock.acquire(['a'], 5000)\n"
    const files = { ...lock, 'sure.ts': sure, 'unsure.ts': unsure }
    const { listed, after } = changing(files)
    expect(after).toEqual(files)
    expect(listed).toEqual([expect.stringMatching(/^unsure\.ts:2: /)])
  })

  test('another instance is not held back', () => {
    const other = `${instance}export const g = () => redlock.acquire(['b'], 5000)\n`
    const { listed, after } = changing({ ...lock, 'sure.ts': sure, 'other.ts': other })
    expect(after['other.ts']).toBe(other)
    expect(after['sure.ts']).toContain('createLease(redlock, ')
    expect(after['lock.ts']).toContain('new RedisLeaseStore(new Redis())')
    expect(listed).toEqual([expect.stringMatching(/^other\.ts:4: /)])
  })

  test('an import that cannot be followed keeps the instance it may mean', () => {
    const alias = "import { redlock } from '@/lock'\nexport const g = () => redlock.using(['a'], 5000, async () => 1)\n"
    const files = { ...lock, 'sure.ts': sure, 'alias.ts': alias }
    const { listed, after } = changing(files)
    expect(after).toEqual(files)
    expect(listed).toEqual([
      expect.stringMatching(/^alias\.ts:1: it is not visible where redlock comes from/),
      expect.stringMatching(/^alias\.ts:2: it is not visible where redlock comes from/),
    ])
  })

  test('a parameter that also gets something else', () => {
    const service = `import type Redlock from 'redlock'
export class Service {
  constructor(private readonly redlock: Redlock) {}
  work() {
    return this.redlock.using(['a'], 5000, { retryCount: 0 }, async () => 1)
  }
}
`
    const uses =
      "import { redlock } from './lock.js'\nimport { Service } from './service.js'\nexport const a = new Service(redlock)\n"
    const fake = "import { Service } from './service.js'\nexport const b = new Service({} as never)\n"
    const files = { ...lock, 'service.ts': service, 'uses.ts': uses, 'fake.ts': fake }
    const { listed, after } = changing(files)
    expect(after).toEqual(files)
    expect(listed).toEqual([expect.stringMatching(/^fake\.ts:2: /)])
  })

  test('a parameter that nothing in the folder fills is changed, and listed', () => {
    const { listed, after } = changing({
      'service.ts': `import type Redlock from 'redlock'
export class Service {
  constructor(private readonly redlock: Redlock) {}
  work() {
    return this.redlock.using(['a'], 5000, { retryCount: 0 }, async () => 1)
  }
}
`,
    })
    expect(after['service.ts']).toContain(
      "createLease(this.redlock, 'a', { heartbeatTimeout: 5000 }).run(async () => 1)",
    )
    expect(listed).toEqual([expect.stringMatching(/^service\.ts:3: .*give it a RedisLeaseStore/)])
  })

  test('a subscript, a destructured instance and an optional call are not overlooked', () => {
    for (const use of [
      "export class S { constructor(private redlock: Redlock) {} f() { const { redlock } = this; return redlock.using(['a'], 5000, async () => 1) } }",
      "export class S { constructor(private redlock: Redlock) {} f() { const { redlock: r } = this; return r.using(['a'], 5000, async () => 1) } }",
      "export class S { constructor(private redlock?: Redlock) {} f() { return this.redlock?.using(['a'], 5000, async () => 1) } }",
      "export class S { constructor(private redlock: Redlock) {} f() { return this['redlock'].using(['a'], 5000, async () => 1) } }",
    ]) {
      const text = `import Redlock from 'redlock'\n${use}\n`
      const { listed, after } = changing({ 'code.ts': text })
      expect(after).toEqual({ 'code.ts': text })
      expect(listed).not.toEqual([])
    }
  })
})

test('a class that is a token of a framework keeps the parameters that it fills', () => {
  const files = {
    'service.ts': `import { Injectable } from '@nestjs/common'
import Redlock from 'redlock'
@Injectable()
export class Service {
  constructor(private readonly redlock: Redlock) {}
  work() {
    return this.redlock.using(['a'], 5000, { retryCount: 0 }, async () => 1)
  }
}
`,
    'module.ts': `import Redlock from 'redlock'
import { make } from './make.js'
export const provider = { provide: Redlock, useFactory: make }
`,
  }
  const { listed, after } = changing(files)
  expect(after).toEqual(files)
  expect(listed).toEqual([expect.stringMatching(/^module\.ts:3: the class of redlock is used in another way/)])
})

test('of two instances in a file, the sure one is changed, and the import of the other one stays', () => {
  const { listed, after } = changing({
    'code.ts': `${instance}const other = new Redlock([new Redis()])
export const f = () => redlock.using(['a'], 5000, async () => 1)
export const g = () => other.acquire(['b'], 5000)
`,
  })
  expect(after['code.ts']).toBe(`import { Redis } from 'ioredis'
import Redlock from 'redlock'
import { createLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
const redlock = new RedisLeaseStore(new Redis())
const other = new Redlock([new Redis()])
export const f = () => createLease(redlock, 'a', { heartbeatTimeout: 5000 }).run(async () => 1, { wait: 2000 })
export const g = () => other.acquire(['b'], 5000)
`)
  expect(listed).toEqual([expect.stringMatching(/^code\.ts:6: /)])
})

test('a block stays in its place where a function would lose what the code knows', () => {
  const { listed, after } = changing({
    'code.ts': `${instance}export class Import {
  file: string | undefined
  async run(read: (file: string) => Promise<void>) {
    if (this.file === undefined) return
    const lock = await redlock.acquire(['import'], 5000)
    try {
      await read(this.file)
    } finally {
      await lock.release()
    }
  }
}
`,
  })
  expect(listed).toEqual([])
  expect(after['code.ts']).toContain(`    const lock = createLease(redlock, 'import', { heartbeatTimeout: 5000 })
    if (!(await lock.acquire({ wait: 2000 }))) throw new LeaseHeldError('another owner holds the lease', { leaseName: lock.settings.name })
    try {
      await read(this.file)
    } finally {
      await lock.release()
    }
`)
})

test('line ends, tabs and a byte order mark stay', () => {
  const text = `\uFEFF${instance}export const f = () => {\n\treturn redlock.using(['a'], 5000, async () => 1)\n}\n`
  const { after } = changing({ 'code.ts': text.replaceAll('\n', '\r\n') })
  expect(after['code.ts']).toBe(
    `\uFEFFimport { Redis } from 'ioredis'
import { createLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
const redlock = new RedisLeaseStore(new Redis())
export const f = () => {
\treturn createLease(redlock, 'a', { heartbeatTimeout: 5000 }).run(async () => 1, { wait: 2000 })
}
`.replaceAll('\n', '\r\n'),
  )
})

test('a private field and renamed imports are followed', () => {
  const { listed, after } = changing({
    'lock.js': "const Redlock = require('redlock')\nexports.redlock = new Redlock([require('./client')])\n",
    'uses.js': "const { redlock: r } = require('./lock')\nexports.f = () => r.using(['a'], 5000, async () => 1)\n",
    'pool.js':
      "const Redlock = require('redlock')\nexports.Pool = class {\n  #lock = new Redlock([this.client])\n  f() {\n    return this.#lock.using(['a'], 5000, async () => 1)\n  }\n}\n",
  })
  expect(listed).toEqual([])
  expect(after['uses.js']).toContain("createLease(r, 'a', ")
  expect(after['lock.js']).toContain("exports.redlock = new RedisLeaseStore(require('./client'))")
  expect(after['pool.js']).toContain("createLease(this.#lock, 'a', ")
})

test.each([
  ['default.mjs', 'export default new Redlock([client])', "import lock from './default.mjs'", 'lock'],
  ['named.mjs', 'const lock = new Redlock([client])\nexport default lock', "import l from './named.mjs'", 'l'],
  ['star.mjs', 'export const lock = new Redlock([client])', "import * as all from './star.mjs'", 'all.lock'],
  ['whole.js', 'const lock = new Redlock([client])\nmodule.exports = lock', "const it = require('./whole')", 'it'],
])('an instance that %s exports is followed', (file, creation, importing, used) => {
  const isModule = file.endsWith('.mjs')
  const start = isModule
    ? "import Redlock from 'redlock'\nimport { client } from './client.mjs'\n"
    : "const Redlock = require('redlock')\nconst { client } = require('./client')\n"
  const use = `${importing}\nconst f = () => ${used}.using(['a'], 5000, async () => 1)\nf()\n`
  const { listed, after } = changing({ [file]: `${start}${creation}\n`, [isModule ? 'use.mjs' : 'use.js']: use })
  expect(listed).toEqual([])
  expect(after[file]).toContain('new RedisLeaseStore(client)')
  expect(after[isModule ? 'use.mjs' : 'use.js']).toContain(`createLease(${used}, 'a', `)
})

test('a file that cannot be parsed is listed', () => {
  const text = "import Redlock from 'redlock'\nconst redlock = new Redlock([\n"
  const { listed, after } = changing({ 'code.ts': text })
  expect(after).toEqual({ 'code.ts': text })
  expect(listed).toEqual([expect.stringMatching(/^code\.ts:3: the file cannot be parsed/)])
})

test('code without redlock is not touched', () => {
  const files = { 'pool.ts': "export const f = (pool: any) => pool.acquire(['a'], 5)\n" }
  expect(changing(files)).toEqual({ listed: [], after: files })
})

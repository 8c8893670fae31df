import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Workspace } from './support/workspace.js'

const workspace = new Workspace()
const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url))

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', bin, ...args], {
    cwd: workspace.folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

const sure = `import { Redis } from 'ioredis'
import Redlock from 'redlock'

const redlock = new Redlock([new Redis()])
export const f = () => redlock.using(['a'], 5000, async () => 1)
`

test('changes a folder, skips node_modules, and has nothing to do the second time', () => {
  const folder = workspace.files('sure', { 'a.ts': sure, 'node_modules/b/index.ts': sure })
  expect(run('redlock', '--dry-run', 'sure')).toEqual({
    status: 0,
    stderr: '',
    stdout: `--- sure/a.ts
+++ sure/a.ts
@@ sure/a.ts:2 @@
-import Redlock from 'redlock'
+import { createLease } from '@leasehold/core'
+import { RedisLeaseStore } from '@leasehold/redis'
@@ sure/a.ts:4 @@
-const redlock = new Redlock([new Redis()])
+const redlock = new RedisLeaseStore(new Redis())
@@ sure/a.ts:5 @@
-export const f = () => redlock.using(['a'], 5000, async () => 1)
+export const f = () => createLease(redlock, 'a', { heartbeatTimeout: 5000 }).run(async () => 1, { wait: 2000 })

1 file would change, 0 places are left to do by hand.
`,
  })
  expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe(sure)
  expect(run('redlock', 'sure')).toMatchObject({ status: 0, stdout: expect.stringContaining('changed sure/a.ts\n') })
  expect(readFileSync(join(folder, 'node_modules/b/index.ts'), 'utf8')).toBe(sure)
  expect(run('redlock', 'sure')).toEqual({ status: 0, stderr: '', stdout: 'No code here uses redlock.\n' })
})

test('exits with 1 if something is left to do by hand', () => {
  workspace.files('left', { 'a.ts': sure.replace("['a']", 'names') })
  const { status, stdout } = run('redlock', 'left')
  expect(status).toBe(1)
  expect(stdout).toContain('To do by hand:\nleft/a.ts:5: ')
  expect(stdout).toContain('do not deploy a part of this')
})

test.each([
  [['redlock', 'nowhere'], /nowhere does not exist/],
  [['redlock'], /give a folder/],
  [[], /give a codemod/],
  [['bull', 'src'], /no codemod bull/],
  [['redlock', '--dry', 'src'], /--dry/],
])('exits with 2 for %j', (args, message) => {
  const { status, stderr, stdout } = run(...args)
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

test('--help', () => {
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--dry-run') })
})

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { leases, TestApiServer } from '../../../packages/kubernetes/test/support/api-server/test-api-server.js'
import { kubeConfigFor } from '../../../packages/kubernetes/test/support/kube-config-for.js'

const MAIN = new URL('../src/main.ts', import.meta.url).pathname

/** Writes its token down, goes on until it is asked to stop, and says that it did. */
const COMMAND = `
const { appendFileSync } = require('node:fs')
const tell = (what) => appendFileSync(process.argv[1], what + ' ' + process.env.POD_NAME + ' ' + process.env.FENCING_TOKEN + '\\n')
process.on('SIGTERM', () => { tell('end'); process.exit(0) })
tell('begin')
setInterval(() => {}, 1000)
`

const PATIENCE = { timeout: 60_000, interval: 50 }

it('the command runs in one pod at a time, is ended in good order, and then runs in the next', {
  timeout: 120_000,
}, async () => {
  const server = await TestApiServer.start()
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-example-'))
  const [kubeconfig, log] = [join(folder, 'config'), join(folder, 'log')]
  writeFileSync(kubeconfig, (await kubeConfigFor(server.port)).exportConfig())
  writeFileSync(log, '')
  const pods: ChildProcess[] = []
  onTestFinished(async () => {
    // In good order: of a pod that is killed, the command would go on here, where no container ends with it.
    for (const pod of pods) {
      const exited = pod.exitCode === null ? once(pod, 'exit') : undefined
      pod.kill('SIGTERM')
      await exited
    }
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const start = (pod: string): ChildProcess => {
    const args = [
      '--import',
      'tsx',
      '--conditions',
      '@leasehold/source',
      MAIN,
      'report',
      process.execPath,
      '-e',
      COMMAND,
      log,
    ]
    const env = { ...process.env, KUBECONFIG: kubeconfig, POD_NAME: pod, PORT: '0' }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    pods.push(child)
    return child
  }
  const lines = (): string[] => readFileSync(log, 'utf8').trim().split('\n')
  const first = start('one')
  await vi.waitFor(() => expect(lines()[0]).toMatch(/^begin one \d+$/), PATIENCE)
  start('two')
  await vi.waitFor(() => expect(server.watching).toBe(1), PATIENCE)
  first.kill('SIGTERM')
  expect(await once(first, 'exit')).toEqual([0, null])
  await vi.waitFor(() => expect(lines().length).toBe(3), PATIENCE)
  const [begin = '', end, next = ''] = lines()
  expect([end, next]).toEqual([begin.replace('begin', 'end'), expect.stringMatching(/^begin two \d+$/)])
  expect(Number(next.split(' ')[2])).toBeGreaterThan(Number(begin.split(' ')[2]))
  expect(server.get(leases, 'report')?.spec?.holderIdentity).toMatch(/^two_/)
})

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { eventually } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import { CommandProcesses } from '../src/run/command-processes.js'

/** In a session of its own: starts a process in another group, whose parent ends at once, and writes its number. */
const SCRIPT = 'set -m; (sleep 60 & echo $!) & wait; exec sleep 60'

it.skipIf(process.platform !== 'linux')(
  'are also those of the session that are in another group, have lost their parent, and are not marked',
  async () => {
    const root = spawn('bash', ['-c', SCRIPT], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const orphan = Number(await new Promise((resolve) => root.stdout.once('data', resolve)))
    onTestFinished(() => {
      for (const pid of [root.pid ?? 0, orphan]) process.kill(pid, 'SIGKILL')
    })
    await eventually('its parent has ended, and was waited for', async () => {
      return readFileSync(`/proc/${root.pid}/comm`, 'latin1').trim() === 'sleep'
    })
    const processes = new CommandProcesses({ runId: 'none', since: '' }, [])
    processes.begin({ pid: root.pid ?? 0, hasOwnGroup: true })
    const found = processes.alive().filter(({ pid }) => pid === orphan)
    expect(found).toEqual([expect.objectContaining({ session: root.pid })])
    expect(found[0]?.parent).not.toBe(root.pid)
    expect(found[0]?.group).not.toBe(root.pid)
  },
)

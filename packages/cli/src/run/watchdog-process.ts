import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { watchdogWord } from './watchdog-message.js'

/** The process of a watchdog. It reads what there is to watch, and answers. */
export type WatchdogProcess = ChildProcessByStdio<Writable, Readable, null>

/** Starts a watchdog, which watches nothing before it gets a command. If it cannot be started, it counts as ended. */
export function startWatchdog(): WatchdogProcess {
  const [, program = ''] = process.argv
  // Two debuggers cannot share a port.
  const options = process.execArgv.filter((option) => !option.startsWith('--inspect'))
  // The watchdog uses no network. To read these certificates takes Node longer than all else before the first line runs.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, [...options, program, watchdogWord], {
    // A session of its own: signals of the terminal do not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  })
  child.stdin.on('error', () => {})
  child.on('error', () => {})
  return child
}

/** Ends a watchdog, also one that is stopped. It keeps this process alive no longer. */
export function endWatchdog(child: WatchdogProcess): void {
  child.kill('SIGKILL')
  child.stdin.destroy()
  child.stdout.destroy()
  child.unref()
}

#!/usr/bin/env node
import { watchdogWord } from './run/watchdog-message.js'

const [, , word] = process.argv

if (word === watchdogWord) {
  const { runWatchdog } = await import('./run/watchdog.js')
  await runWatchdog()
} else if (word === 'run' && process.argv.includes('--')) {
  // The watchdog takes as long to start as everything else together: it starts first.
  const { WatchdogProcess } = await import('./run/watchdog-process.js')
  const watchdog = new WatchdogProcess()
  const { main } = await import('./leasehold-process.js')
  process.exitCode = await main(watchdog)
  watchdog.end()
} else {
  const { main } = await import('./leasehold-process.js')
  process.exitCode = await main()
}

#!/usr/bin/env node
import { watchdogWord } from './run/watchdog-message.js'

if (process.argv[2] === watchdogWord) {
  const { runWatchdog } = await import('./run/watchdog.js')
  await runWatchdog()
} else {
  const { main } = await import('./leasehold-process.js')
  process.exitCode = await main()
}

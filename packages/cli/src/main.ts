#!/usr/bin/env node
import { systemClock } from '@leasehold/core'
import { leasehold } from './leasehold.js'

// The timers of a clock do not keep the process alive: this does, until the command has ended.
const { port1: alive } = new MessageChannel()
alive.ref()
process.exitCode = await leasehold(process.argv.slice(2), {
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  env: process.env,
  clock: systemClock,
})
alive.close()

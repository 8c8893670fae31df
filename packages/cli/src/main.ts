#!/usr/bin/env node
import { systemClock } from '@leasehold/core'
import { leasehold } from './leasehold.js'

process.exitCode = await leasehold(process.argv.slice(2), {
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  env: process.env,
  clock: systemClock,
})

#!/usr/bin/env node
import { createLeasehold } from './create-leasehold.js'

process.exitCode = await createLeasehold({
  args: process.argv.slice(2),
  env: process.env,
  workingFolder: process.cwd(),
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
})

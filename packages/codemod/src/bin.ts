#!/usr/bin/env node
import { codemod } from './codemod.js'

process.exitCode = codemod(process.argv.slice(2), process)

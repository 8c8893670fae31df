import { writeFileSync } from 'node:fs'
import { lifeCycleFiles } from './docs/life-cycle/page.js'

for (const { path, text } of lifeCycleFiles()) writeFileSync(path, text)

import { writePlayground } from '../docs/playground/write-playground.js'

await writePlayground()

import { writePlayground } from './write-playground.js'

await writePlayground()

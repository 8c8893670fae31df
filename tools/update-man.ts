import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { manPage } from './docs/man-page.js'
import { shown } from './workspaces.js'

const { path, text } = manPage()
mkdirSync(dirname(path), { recursive: true })
writeFileSync(path, text)
console.log(`${shown(path)}: written`)

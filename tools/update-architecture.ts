import { architecturePage } from './docs/architecture.js'
import { writeOptionsFile } from './docs/provider-options.js'
import { shown } from './workspaces.js'

const page = architecturePage()
if (writeOptionsFile(page)) console.log(`${shown(page.path)} updated`)

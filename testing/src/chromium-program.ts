import { serverProgram } from './server-program.js'

/** Debian's `chromium`, or the browser that the variable `CHROMIUM` names. */
export const chromiumProgram = serverProgram('CHROMIUM', 'chromium')

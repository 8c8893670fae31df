// Writes the parts of the pages that come from sources: snippets, options, the man page, the architecture, the life cycle of a
// lease, and the copies of the text for coding agents.
import './update-snippets.js'
import './update-options.js'
import './update-man.js'
import './update-architecture.js'
import './update-agents-text.js'
import './update-life-cycle.js'

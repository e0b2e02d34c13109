/** Text of the model as prose. Closed blocks are rendered once; while text streams only the last block is done again. */
import { memo, useState } from "react";

import { GrowingBlocks, markdownParser } from "./blocks";
import { renderMarkdown } from "./render";

export function Markdown({ source }: { source: string }) {
  const [growing] = useState(() => new GrowingBlocks());
  return (
    <div className="say">
      {growing.update(source).map((block) => (
        <Block key={block.from} source={block.source} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ source }: { source: string }) {
  return <div className="md-block">{renderMarkdown(source, markdownParser.parse(source).topNode)}</div>;
});

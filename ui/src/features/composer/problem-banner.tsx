/** What the user's last act in this session led to, when it did not work. */
import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { useNavigation } from "../../state/navigation";
import { clearProblem, useProblems } from "../../state/problems";
import { text } from "../../text/en";

const words = text.conversation;

export function ProblemBanner() {
  const problem = useProblems((problems) => problems.session);
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  if (!problem) return null;
  return (
    <div className="banner danger" role="alert">
      <Icon name="warn" />
      <div className="grow selectable">{problem.message}</div>
      {problem.code === "no_model" || problem.code === "auth" ? (
        <Button dense tone="primary" onClick={() => openDialog({ kind: "connect_model", name: null })}>
          {words.ending.connect}
        </Button>
      ) : null}
      <IconButton small icon="close" name={words.composer.dismiss} onClick={() => clearProblem("session")} />
    </div>
  );
}
